import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { toCanonicalJson } from '../../../../../src/scanner/attestation/envelope.ts';
import { parseRecording } from '../../../../../src/scanner/probe/read-recording.ts';
import { answer, perfectSeller } from '../../../../fixtures/observations/build-observations.ts';
import { buyer, PRICES, type SellingApp, startSelling } from './selling.ts';

const { scan: PRICE } = PRICES['0.3.0'];
const HOST = 'shop.example.com';
const WITH_RECORDING = { url: HOST, include: ['recording'] };
const MIB = 1024 * 1024;

/** Creates a seller whose recording has about this number of bytes. */
function createSeller(bytes: number) {
  return { observations: { ...perfectSeller(), llmsTxt: answer(200, 'x'.repeat(bytes)) } };
}

const buy = async (selling: SellingApp, body: object, header?: Record<string, string>) =>
  selling.app.post('/v1/scan', body, header ?? (await selling.header(PRICE, {}, buyer())));

describe('POST /v1/scan with "include": ["recording"]', () => {
  test('answers the recording, and its digest is in the signed report', async () => {
    await using selling = await startSelling();
    const { app } = selling;
    const paidAnswer = await buy(selling, WITH_RECORDING);
    expect(paidAnswer.statusCode).toBe(200);
    const { recording, ...report } = paidAnswer.json();
    expect(report).not.toHaveProperty('recordingReason');
    expect(parseRecording(recording, 'answer').observations).toEqual(perfectSeller());
    expect(recording.scannedAt).toBe(report.scannedAt);
    const attestation = (await app.get(`/v1/attestation?url=${HOST}`)).json();
    const { subject } = JSON.parse(Buffer.from(attestation.payload, 'base64').toString());
    const digest = createHash('sha256').update(toCanonicalJson(recording.observations));
    expect(subject[0].digest.sha256).toBe(digest.digest('hex'));
    expect(await (await buy(selling, { url: HOST })).json()).not.toHaveProperty('recording');
    expect(await (await buy(selling, { url: HOST, include: [] })).json()).not.toHaveProperty(
      'recording',
    );
  });

  test('is a different request from a scan without a recording, and a retry with the same payment gets the same bytes', async () => {
    await using selling = await startSelling();
    const header = await selling.header(PRICE);
    const paidAnswer = await buy(selling, WITH_RECORDING, header);
    expect(paidAnswer.statusCode).toBe(200);
    expect((await buy(selling, { url: HOST }, header)).statusCode).toBe(409);
    const retry = await buy(selling, { ...WITH_RECORDING, url: `https://${HOST}/x` }, header);
    expect(retry.headers['x-redelivered']).toBe('1');
    expect(retry.body).toBe(paidAnswer.body);
    const headerWithout = await selling.header(PRICE);
    expect((await buy(selling, { url: HOST }, headerWithout)).statusCode).toBe(200);
    expect((await buy(selling, WITH_RECORDING, headerWithout)).statusCode).toBe(409);
  });

  test.each([
    ['another word', ['report']],
    ['a string instead of a list', 'recording'],
    ['a word twice', ['recording', 'recording']],
    ['null', null],
    ['a number in a list', [1]],
  ])(
    'answers %s in place of the list with an uncharged 400 to a payment, and with 402 without a payment',
    async (_name, include) => {
      await using selling = await startSelling();
      expect((await selling.app.post('/v1/scan', { url: HOST, include })).statusCode).toBe(402);
      const paid = await buy(selling, { url: HOST, include });
      expect(paid.statusCode).toBe(400);
      expect(paid.json()).toMatchObject({ error: 'invalid_request', charged: false });
      expect(selling.app.scanner.scannedHosts).toEqual([]);
    },
  );

  test('answers null and a reason for a recording over 4 MiB, and answers a smaller recording whole', async () => {
    await using selling = await startSelling();
    const { scanner } = selling.app;
    const smallRecordingChars = JSON.stringify(
      (await buy(selling, WITH_RECORDING)).json().recording,
    ).length;
    for (const [bytes, isWhole] of [
      [4 * MIB + MIB, false],
      [4 * MIB - 2 * smallRecordingChars, true],
    ] as const) {
      scanner.will(HOST, createSeller(bytes));
      const header = await selling.header(PRICE);
      const paidAnswer = await buy(selling, WITH_RECORDING, header);
      expect(paidAnswer.statusCode).toBe(200);
      const { recording, recordingReason, results } = paidAnswer.json();
      expect(results).toHaveLength(25);
      expect([recording !== null, recordingReason !== undefined]).toEqual([isWhole, !isWhole]);
      if (!isWhole) expect(recordingReason).toMatch(/over 4 MiB/);
      expect((await buy(selling, WITH_RECORDING, header)).body).toBe(paidAnswer.body);
    }
  });

  test('answers the recording to those callers of a shared scan that asked for the recording', async () => {
    await using selling = await startSelling();
    const { app } = selling;
    const scanMayEnd = Promise.withResolvers<void>();
    app.scanner.will(HOST, { until: scanMayEnd.promise });
    const calls = [{ url: HOST }, WITH_RECORDING, { url: HOST }, WITH_RECORDING].map((body) =>
      buy(selling, body),
    );
    await expect.poll(() => countClaims(selling)).toBe(4);
    scanMayEnd.resolve();
    const answers = (await Promise.all(calls)).map((answer) => answer.json());
    expect(answers.map(({ recording }) => recording !== undefined)).toEqual([
      false,
      true,
      false,
      true,
    ]);
    expect(app.scanner.scannedHosts).toEqual([HOST]);
  });

  test.each([
    ['a small recording', {}, false],
    ['a recording over 4 MiB', createSeller(5 * MIB), true],
  ])(
    'delivers to a retry after a 504 the recording of the scan that ended: %s',
    async (_name, canned, isNull) => {
      await using selling = await startSelling('0.3.0', {
        environment: { SCAN_TIMEOUT_MS: '1000' },
      });
      const { app } = selling;
      const scanMayEnd = Promise.withResolvers<void>();
      app.scanner.will(HOST, { ...canned, until: scanMayEnd.promise });
      const header = await selling.header(PRICE);
      expect((await buy(selling, WITH_RECORDING, header)).statusCode).toBe(504);
      scanMayEnd.resolve();
      await waitForScanEnd(selling);
      const retry = await buy(selling, WITH_RECORDING, header);
      expect(retry.json()).toMatchObject({ cache: 'hit', charged: true });
      expect([retry.json().recording === null, app.scanner.scannedHosts]).toEqual([isNull, [HOST]]);
    },
  );

  test('is not answered from a scan that was stored without its recording', async () => {
    await using selling = await startSelling('0.3.0', {
      environment: { SCAN_TIMEOUT_MS: '1000' },
    });
    const { app } = selling;
    const scanMayEnd = Promise.withResolvers<void>();
    app.scanner.will(HOST, { until: scanMayEnd.promise });
    expect((await buy(selling, { url: HOST }, await selling.header(PRICE))).statusCode).toBe(504);
    scanMayEnd.resolve();
    await waitForScanEnd(selling);
    const paidAnswer = await buy(selling, WITH_RECORDING, await selling.header(PRICE));
    expect(paidAnswer.json()).toMatchObject({ cache: 'miss', recording: expect.anything() });
    const withoutRecording = await buy(selling, { url: HOST }, await selling.header(PRICE));
    expect(withoutRecording.json()).toMatchObject({ cache: 'hit' });
    expect(app.scanner.scannedHosts).toEqual([HOST, HOST]);
  });

  test('answers in revision 0.1.0 the stored recording of the published scan, or scans anew if there is none', async () => {
    await using selling = await startSelling('0.1.0');
    const price = PRICES['0.1.0'].scan;
    const buyFromOlder = async (body: object) =>
      (await buy(selling, body, await selling.header(price, {}, buyer()))).json();
    expect(await buyFromOlder({ url: HOST })).toMatchObject({ cache: 'miss' });
    selling.app.advance(1_000);
    const published = await buyFromOlder(WITH_RECORDING);
    expect(published).toMatchObject({
      cache: 'miss',
      recording: { scannedAt: published.scannedAt },
    });
    expect(await buyFromOlder(WITH_RECORDING)).toMatchObject({
      cache: 'hit',
      recording: published.recording,
    });
    expect(selling.app.scanner.scannedHosts).toEqual([HOST, HOST]);
  });
});

async function countClaims({ app }: SellingApp): Promise<number> {
  let count = 0;
  for await (const _entry of app.store.ledger.findUnfinished()) count += 1;
  return count;
}

/** Waits until the scan has ended and its result is stored for the payer. */
async function waitForScanEnd({ app, payer }: SellingApp): Promise<void> {
  const address = payer.address.toLowerCase();
  await expect.poll(async () => (await app.store.results.findUnpaid(address, 0)).length).toBe(1);
  await expect.poll(() => app.scanCoordinator.countPaidScans()).toBe(0);
}
