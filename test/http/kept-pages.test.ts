/** Pages that are given again, as they are and packed. */
import { expect, test } from 'vitest';
import { collectGarbage } from '../../src/engine/pool/collect.ts';
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

test('packed pages take the room that they are said to take', () => {
  const pages = new KeptPages(1);
  const host = (n: number) => `host-${n}.example.com`;
  const long = (n: number) => Buffer.from(`${host(n)} ${`finding ${n} `.repeat(1_000)}`);
  const COUNT = 4_000;
  collectGarbage();
  const before = process.memoryUsage().arrayBuffers;
  for (let n = 0; n < COUNT; n += 1) pages.keep(host(n), long(n), MADE);
  collectGarbage();
  const taken = process.memoryUsage().arrayBuffers - before;
  for (const n of [0, 1, COUNT - 1]) {
    expect(pages.get(host(n), { version: '1', nowMs: 1_500 })).toEqual(long(n));
  }
  // The pools that they were cut from would be 125 MiB.
  expect(taken).toBeLessThan(16 * 1_048_576);
});
