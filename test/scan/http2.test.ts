/** One seller, scanned over HTTP/1.1 and over HTTP/2: nothing in report or recording tells which. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ScanOutcome } from '../../src/model/scan-outcome.ts';
import { toRecording } from '../../src/probe/recording.ts';
import { goodSeller } from '../bench/farm/good-seller.ts';
import { startCraftedSeller } from '../fixtures/origins/crafted-seller.ts';
import { BROKEN_HTTP2 } from '../fixtures/origins/http2-behaviours.ts';
import { type Http2, serve } from '../fixtures/sellers/seller.ts';
import { createTestCa, type ServerCertificate, type TestCa } from '../fixtures/tls/test-ca.ts';
import { cells, type EngineUnderTest, startEngine } from './engine-under-test.ts';

let engine: EngineUnderTest;
let ca: TestCa;
let tls: ServerCertificate;
beforeAll(async () => {
  [engine, ca] = await Promise.all([startEngine(), createTestCa()]);
  tls = await ca.issue({ hosts: ['127.0.0.1'] });
});
afterAll(() => engine[Symbol.asyncDispose]());

/** HTTP/2 is offered on a second connection alone. */
const ONE_SOCKET = { socketsPerOrigin: 1 };

test('a seller that is right in everything', async () => {
  const versions: string[] = [];
  const listener = goodSeller(20);
  await using seller = await serve(
    (request, response) => {
      versions.push(request.httpVersion);
      listener(request, response);
    },
    tls,
    'spoken',
  );
  const limits = { stallMs: 30_000, requestTimeoutMs: 30_000 };
  const extraCa = [ca.pem];
  const one = await engine.scan(seller.url, undefined, {
    extraCa,
    limits: { ...limits, ...ONE_SOCKET },
  });
  expect(new Set(versions)).toEqual(new Set(['1.1']));
  versions.length = 0;
  const two = await engine.scan(seller.url, undefined, { extraCa, limits });
  expect(versions.filter((version) => version === '2.0').length).toBeGreaterThan(10);
  expect(one.report.grade).toBe('A');
  expect(comparable(two)).toBe(comparable(one));
});

test.each(['resets each stream', 'says goodbye at the first request', 'sends pings without end'])(
  'a seller whose HTTP/2 %s has the grade of its HTTP/1.1',
  async (name) => {
    const scan = async (http2?: Http2) => {
      await using seller = await startCraftedSeller({ tls, ...(http2 ? { http2 } : {}) });
      return engine.scan(seller.url, undefined, { extraCa: [ca.pem] });
    };
    const [plain, broken] = [await scan(), await scan(BROKEN_HTTP2[name])];
    expect(cells(broken)).toEqual(cells(plain));
    expect(broken.report.score).toBe(plain.report.score);
  },
);

/** All but times, and the name of the page that no site has. */
function comparable({ report, observations }: ScanOutcome): string {
  const recording = toRecording({ scannedAt: '' }, observations);
  const isTime = (name: string) => name === 'ms' || name === 'firstByteMs' || name === 'scannedAt';
  const text = JSON.stringify(
    { results: report.results, score: report.score, recording },
    (name, value) => (isTime(name) ? 0 : value),
  );
  return text
    .replaceAll(/\b[0-9a-f]{24}\b/g, 'random')
    .replaceAll(/\["date","[^"]*"\]/g, '["date"]')
    .replaceAll(/first byte after \d+ ms/g, 'first byte in time');
}
