/** What an origin may do with HTTP/2: whatever it is, HTTP/1.1 says what the origin answers, within all budgets. */
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { allowingOrigin } from '../../../src/guard/allow-hosts.ts';
import { DEFAULT_POLICY, parseOrigin } from '../../../src/guard/origin.ts';
import { BROKEN_HTTP2 } from '../../fixtures/origins/http2-behaviours.ts';
import { type Http2, serve } from '../../fixtures/sellers/seller.ts';
import { createTestCa, type ServerCertificate, type TestCa } from '../../fixtures/tls/test-ca.ts';
import { ask, clientFor, dataOf } from './harness.ts';

const FIRST = { isFirstOfMany: true } as const;
const GETS = Array.from({ length: 12 }, (_, index) => `/${index}`);
const MIB = 1_048_576;

let ca: TestCa;
let certificate: ServerCertificate;
beforeAll(async () => {
  ca = await createTestCa();
  certificate = await ca.issue({ hosts: ['127.0.0.1'] });
});

/** Answers each path over HTTP/1.1, and counts what is asked for so. */
async function startTwofold(http2: Http2) {
  const asked: string[] = [];
  const seller = await serve(
    (request, response) => {
      asked.push(`${request.method} ${request.url}`);
      response.setHeader('content-length', request.url?.length ?? 0).end(request.url);
    },
    certificate,
    http2,
  );
  onTestFinished(() => seller[Symbol.asyncDispose]());
  const policy = allowingOrigin(seller.url, DEFAULT_POLICY);
  return { origin: parseOrigin(seller.url, policy), policy, asked };
}

describe('an origin whose HTTP/2', () => {
  test.each(Object.entries(BROKEN_HTTP2))('%s', async (_, behave) => {
    const target = await startTwofold(behave);
    const limits = { stallMs: 1_000 };
    const client = clientFor(target, { extraCa: [ca.pem], limits });
    expect(dataOf(await ask(client, target, '/', FIRST)).body).toBe('/');
    const all = await Promise.all([
      ...GETS.map((path) => ask(client, target, path)),
      ask(client, target, '/head', { method: 'HEAD' }),
    ]);
    expect(all.map((seen) => dataOf(seen).body)).toEqual([...GETS, '']);
    expect(all.every((seen) => seen.ok && !seen.truncated)).toBe(true);
    const posted = await ask(client, target, '/posted', { method: 'POST', body: '{}' });
    expect(dataOf(posted).body).toBe('/posted');
    expect(target.asked.filter((one) => one === 'POST /posted')).toHaveLength(1);
    const { requests, sockets, bytes } = client.stats();
    expect(requests).toBeLessThanOrEqual(2 * 15);
    expect(sockets).toBeLessThanOrEqual(8);
    // Heads of 64 KiB for thirteen answers, and what a few reads bring beyond that.
    expect(bytes).toBeLessThan(2 * MIB);
  });
});
