/** Pages that are given again, as they are and packed. */
import { expect, test } from 'vitest';
import { KeptPages } from '../../src/http/kept-pages.ts';

const MADE = { version: '1', nowMs: 1_000, untilMs: 2_000 };
const page = (host: string) => Buffer.from(`<p>${host} – ${'findings '.repeat(100)}</p>`);

test('more pages than there is room for come back byte for byte, until they are out of date', () => {
  const pages = new KeptPages(page('a').length * 2);
  const hosts = ['a', 'b', 'c', 'd', 'e'];
  for (const host of hosts) pages.keep(host, page(host), MADE);
  for (const host of hosts) {
    expect(pages.get(host, { version: '1', nowMs: 1_999 })).toEqual(page(host));
  }
  for (const host of ['a', 'e']) {
    expect(pages.get(host, { version: '1', nowMs: 2_000 })).toBeNull();
    expect(pages.get(host, { version: '2', nowMs: 1_500 })).toBeNull();
  }
});
