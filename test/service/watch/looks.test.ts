import { expect, test } from 'vitest';
import { OriginRefused } from '../../../src/scanner/guard/failures.ts';
import { ScannerFailure } from '../../../src/scanner/scan/scanner.ts';
import type { ResourceAnswer } from '../../../src/service/turns/ask-resources.ts';
import { toSecondOfDay } from '../../../src/service/watch/state.ts';
import type { CannedScan } from '../../scanner/scan/fake-scanner.ts';
import { OFFER, toSellerScan } from './seller-report.ts';
import { HOST, startWatchedApp, type WatchedApp } from './watched-app.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** Each resource answers with this offer. With null, nobody can pay it. */
function answerWith(offer: typeof OFFER | null = OFFER, changes: object = {}) {
  return ({ method, path }: { method: string; path: string }): ResourceAnswer => ({
    method,
    path,
    kind: 'answered',
    payableBy: offer === null ? 'nobody' : 'default',
    offers:
      offer === null
        ? []
        : [
            {
              ...offer,
              pointer: '/accepts/0',
              maxTimeoutSeconds: 60,
              price: null,
              isTestnet: false,
              client: 'signs',
            },
          ],
    p3Failure: null,
    ...changes,
  });
}

async function startWatchedSeller(firstScan: CannedScan = toSellerScan()) {
  const watched = await startWatchedApp();
  watched.app.scanner.will(HOST, firstScan);
  watched.answerResource = answerWith();
  const secret = await watched.startAgreed();
  watched.receiver.received.length = 0;
  return { watched, secret, [Symbol.asyncDispose]: () => watched[Symbol.asyncDispose]() };
}

/** Moves the clock to the next look. */
async function advanceToNextLook(watched: WatchedApp, secret: string): Promise<void> {
  const { body } = await watched.call('status', secret);
  const atMs = Date.parse(String(body['nextLookAt']));
  await watched.advance(Math.max(0, atMs - watched.app.now()));
}

/** Moves the clock to the next daily scan. */
async function advanceToNextScan(watched: WatchedApp, secret: string): Promise<void> {
  const scans = watched.app.scanner.scannedHosts.length;
  while (watched.app.scanner.scannedHosts.length === scans)
    await advanceToNextLook(watched, secret);
}

/** Type, `before` and `after` of each received event. */
function listEvents({ receiver }: WatchedApp) {
  return receiver.received.map(({ event }) => [
    event.type,
    event.data['before'],
    event.data['after'],
  ]);
}

test("a daily scan begins at the host's second of the UTC day, and every hour the watch asks the resources", async () => {
  await using seller = await startWatchedSeller();
  const { watched, secret } = seller;
  const { app } = watched;
  expect(app.scanner.scannedHosts).toHaveLength(1);
  await advanceToNextScan(watched, secret);
  expect((app.now() % DAY_MS) / 1_000).toBe(toSecondOfDay(HOST));
  const startMs = app.now();
  const askedBefore = watched.askedHosts.length;
  for (let hour = 1; hour < 24; hour += 1) await advanceToNextLook(watched, secret);
  expect(app.now() - startMs).toBe(23 * HOUR_MS);
  expect(app.scanner.scannedHosts).toHaveLength(2);
  expect(watched.askedHosts.length - askedBefore).toBe(23);
  await advanceToNextLook(watched, secret);
  expect(app.scanner.scannedHosts).toHaveLength(3);
  expect(listEvents(watched)).toEqual([]);
  expect(watched.app.troubles).toEqual([]);
});

test('a worse grade and failed checks are reported if a second scan ten minutes later confirms them', async () => {
  await using seller = await startWatchedSeller();
  const { watched, secret } = seller;
  const failing = { status: 'fail', outcome: 'no-h1', evidence: 'x' } as const;
  const unevaluated = {
    status: 'fail',
    basis: 'not_evaluated',
    outcome: 'prerequisite-failed',
  } as const;
  const results = { S7: failing, S8: unevaluated };
  watched.app.scanner.will(HOST, toSellerScan({ grade: 'C', score: 71, results }));
  await advanceToNextScan(watched, secret);
  expect(listEvents(watched)).toEqual([]);
  await watched.advance(10 * MINUTE_MS - 1);
  expect(listEvents(watched)).toEqual([]);
  await watched.advance(1);
  expect(listEvents(watched)).toEqual([
    ['grade.changed', { grade: 'A', score: 95 }, { grade: 'C', score: 71 }],
    [
      'check.failed',
      expect.objectContaining({ id: 'S7', status: 'pass' }),
      { id: 'S7', status: 'fail', outcome: 'no-h1' },
    ],
  ]);
  // Recoveries are sent at once.
  watched.receiver.received.length = 0;
  watched.app.scanner.will(HOST, toSellerScan());
  await advanceToNextScan(watched, secret);
  expect(listEvents(watched).map(([type]) => type)).toEqual(['grade.changed', 'check.recovered']);
});

test('a bad grade or an unreachable resource that is mended within ten minutes is not reported', async () => {
  await using seller = await startWatchedSeller();
  const { watched, secret } = seller;
  watched.app.scanner.will(HOST, toSellerScan({ grade: 'F', score: 3 }));
  await advanceToNextScan(watched, secret);
  watched.app.scanner.will(HOST, toSellerScan());
  await watched.advance(10 * MINUTE_MS);
  watched.answerResource = (resource) => ({ ...resource, kind: 'unreachable' });
  await advanceToNextLook(watched, secret);
  watched.answerResource = answerWith();
  await watched.advance(10 * MINUTE_MS);
  for (let n = 0; n < 30; n += 1) await advanceToNextLook(watched, secret);
  expect(listEvents(watched)).toEqual([]);
});

test('changed terms and recoveries are reported at the first look, and lost payability at the second', async () => {
  await using seller = await startWatchedSeller();
  const { watched, secret } = seller;
  const dearer = { ...OFFER, amount: '90000', payTo: '0xother' };
  watched.answerResource = answerWith(dearer);
  await advanceToNextLook(watched, secret);
  const resource = { method: 'GET', path: '/weather' };
  expect(listEvents(watched)).toEqual([
    ['terms.changed', { ...resource, offers: [OFFER] }, { ...resource, offers: [dearer] }],
  ]);
  // The daily scan sees the same terms, so no second event follows.
  watched.app.scanner.will(HOST, toSellerScan({}, dearer));
  await advanceToNextScan(watched, secret);
  expect(listEvents(watched)).toHaveLength(1);

  watched.answerResource = answerWith(null);
  await advanceToNextLook(watched, secret);
  expect(listEvents(watched)).toHaveLength(1);
  await advanceToNextLook(watched, secret);
  expect(listEvents(watched).slice(1)).toEqual([
    ['payability.changed', { payableBy: 'default' }, { payableBy: 'nobody' }],
  ]);
  watched.answerResource = answerWith(dearer);
  await advanceToNextLook(watched, secret);
  expect(listEvents(watched).slice(2)).toEqual([
    ['payability.changed', { payableBy: 'nobody' }, { payableBy: 'default' }],
  ]);
});

test('an origin that stops answering is reported at the second look, and its return at the first', async () => {
  await using seller = await startWatchedSeller();
  const { watched, secret } = seller;
  watched.answerResource = (resource) => ({ ...resource, kind: 'unreachable' });
  await advanceToNextLook(watched, secret);
  await advanceToNextLook(watched, secret);
  expect(listEvents(watched)).toEqual([
    ['origin.unreachable', { reachable: true }, { reachable: false }],
  ]);
  watched.answerResource = answerWith();
  await advanceToNextLook(watched, secret);
  expect(listEvents(watched).slice(1)).toEqual([
    ['origin.recovered', { reachable: false }, { reachable: true }],
  ]);
});

test('a challenge that breaks P3 is a failed check until every challenge is correct', async () => {
  await using seller = await startWatchedSeller();
  const { watched, secret } = seller;
  watched.answerResource = answerWith(OFFER, { p3Failure: 'no-pay-to' });
  await advanceToNextLook(watched, secret);
  await advanceToNextLook(watched, secret);
  watched.answerResource = answerWith();
  await advanceToNextLook(watched, secret);
  expect(listEvents(watched).map(([type, , after]) => [type, after])).toEqual([
    ['check.failed', { id: 'P3', status: 'fail', outcome: 'no-pay-to' }],
    ['check.recovered', { id: 'P3', status: 'pass', outcome: 'valid' }],
  ]);
});

test('looks that fail by our own fault, and unknown answers, report nothing', async () => {
  await using seller = await startWatchedSeller();
  const { watched, secret } = seller;
  const { scanner } = watched.app;
  watched.answerResource = null;
  await advanceToNextLook(watched, secret);
  watched.answerResource = (resource) => ({ ...resource, kind: 'unknown' });
  await advanceToNextLook(watched, secret);
  scanner.will(HOST, { failure: new ScannerFailure('ours') });
  await advanceToNextScan(watched, secret);
  const fault = { status: 'fail', outcome: 'fault' } as const;
  scanner.will(HOST, toSellerScan({ grade: 'F', score: 0, results: { S7: fault } }));
  await advanceToNextScan(watched, secret);
  await watched.advance(10 * MINUTE_MS);
  expect(listEvents(watched)).toEqual([]);
  expect(watched.app.troubles).toEqual(expect.arrayContaining(['a look failed']));
});

test('a name that now resolves to a blocked address is unreachable', async () => {
  await using seller = await startWatchedSeller();
  const { watched, secret } = seller;
  watched.app.scanner.will(HOST, { failure: new OriginRefused('blocked_ip') });
  watched.answerResource = (resource) => ({ ...resource, kind: 'unreachable' });
  await advanceToNextScan(watched, secret);
  await advanceToNextLook(watched, secret);
  expect(listEvents(watched).map(([type]) => type)).toEqual(['origin.unreachable']);
});

test('a paid scan replaces the daily scan of that day, and is compared like a look', async () => {
  await using seller = await startWatchedSeller();
  const { watched, secret } = seller;
  const { app } = watched;
  await watched.advance(DAY_MS - (app.now() % DAY_MS));
  const scansBefore = app.scanner.scannedHosts.length;
  await app.publish(HOST, toSellerScan({ grade: 'B', score: 85 }));
  await watched.app.watching.idle();
  expect(listEvents(watched)).toEqual([]);
  await watched.advance(10 * MINUTE_MS);
  expect(listEvents(watched)).toEqual([
    ['grade.changed', { grade: 'A', score: 95 }, { grade: 'B', score: 85 }],
  ]);
  // The payer's scan and the confirming scan were the only ones.
  expect(app.scanner.scannedHosts.length - scansBefore).toBe(2);
  await watched.advance(DAY_MS - (app.now() % DAY_MS) - 1);
  expect(app.scanner.scannedHosts.length - scansBefore).toBe(2);

  // A paid scan that was published while the process was down is compared at the next look.
  watched.receiver.received.length = 0;
  app.advance(MINUTE_MS);
  await app.publish(HOST, toSellerScan({ grade: 'A', score: 95 }));
  await advanceToNextLook(watched, secret);
  expect(listEvents(watched).map(([type]) => type)).toEqual(['grade.changed']);
});

test('a watch renews itself while the host serves the token file; without the file it announces its end, and ends', async () => {
  await using seller = await startWatchedSeller();
  const { watched, secret } = seller;
  const { app } = watched;
  const readEndMs = async () =>
    Date.parse(String((await watched.call('status', secret)).body['endsAt']));
  for (let day = 0; day < 3; day += 1) await advanceToNextScan(watched, secret);
  const renewedEndMs = await readEndMs();
  expect(renewedEndMs).toBeGreaterThan(app.now() + 29 * DAY_MS);
  app.challenges.clear();
  await advanceToNextScan(watched, secret);
  expect(await readEndMs()).toBe(renewedEndMs);
  await watched.advance(renewedEndMs - 3 * DAY_MS - app.now() - 1);
  expect(listEvents(watched)).toEqual([]);
  await watched.advance(1);
  expect(listEvents(watched)).toEqual([['watch.ending', null, null]]);
  expect(watched.receiver.received[0]?.event.data['endsAt']).toBe(
    new Date(renewedEndMs).toISOString(),
  );
  await watched.advance(renewedEndMs - app.now());
  expect((await watched.call('status', secret)).body).toMatchObject({ state: 'ended' });
  await watched.advance(31 * DAY_MS);
  await app.store.purge(app.now());
  expect((await watched.call('status', secret)).status).toBe(403);
}, 120_000);

test('a host that opts out of the directory is still watched', async () => {
  await using seller = await startWatchedSeller();
  const { watched, secret } = seller;
  await watched.app.store.listing.set(HOST, { listed: false });
  watched.answerResource = answerWith({ ...OFFER, amount: '1' });
  await advanceToNextLook(watched, secret);
  expect(listEvents(watched).map(([type]) => type)).toEqual(['terms.changed']);
});

test('an index listing whose newest settlement is 25 days old is reported once, and again after a newer settlement', async () => {
  await using watched = await startWatchedApp();
  const { app, receiver } = watched;
  const resource = `https://${HOST}/weather`;
  const row = { resource, method: 'GET', listedAs: null, differences: [], reasons: [] } as const;
  const setLastSettled = (atMs: number | null, index: 'bazaar' | 'x402scan' = 'bazaar') => {
    const settlement = atMs === null ? {} : { lastSettledAt: new Date(atMs).toISOString() };
    app.scanner.will(
      HOST,
      toSellerScan({ report: { indexed: [{ ...row, index, state: 'listed', ...settlement }] } }),
    );
  };
  const listLapsing = () =>
    receiver.received
      .filter(({ type }) => type === 'listing.lapsing')
      .map(({ event }) => event.data);
  const firstSettledMs = app.now() - 24 * DAY_MS;
  setLastSettled(firstSettledMs);
  const secret = await watched.startAgreed();
  expect(listLapsing()).toEqual([]);
  await advanceToNextScan(watched, secret);
  if (app.now() - firstSettledMs < 25 * DAY_MS) await advanceToNextScan(watched, secret);
  const lapsingData = {
    resource,
    lastSettledAt: new Date(firstSettledMs).toISOString(),
    lapsesAt: new Date(firstSettledMs + 30 * DAY_MS).toISOString(),
  };
  expect(listLapsing()).toEqual([expect.objectContaining({ before: null, after: lapsingData })]);

  // No event follows if the index has no settlement, an older or the same one, or if another index lists it.
  setLastSettled(null);
  await advanceToNextScan(watched, secret);
  setLastSettled(firstSettledMs - DAY_MS);
  await advanceToNextScan(watched, secret);
  setLastSettled(firstSettledMs);
  await advanceToNextScan(watched, secret);
  setLastSettled(app.now() - 26 * DAY_MS, 'x402scan');
  await advanceToNextScan(watched, secret);
  expect(listLapsing()).toHaveLength(1);

  const newerSettledMs = app.now() - 25 * DAY_MS + HOUR_MS;
  setLastSettled(newerSettledMs);
  await advanceToNextScan(watched, secret);
  await advanceToNextScan(watched, secret);
  expect(listLapsing()).toHaveLength(2);
  expect(listLapsing()[1]?.['after']).toMatchObject({
    lastSettledAt: new Date(newerSettledMs).toISOString(),
  });
  const body = receiver.received.at(-1)?.body ?? '';
  expect(Buffer.byteLength(body)).toBeLessThanOrEqual(20 * 1_024);
});

test('the first look reports a listing that already lapses', async () => {
  await using watched = await startWatchedApp();
  const { app, receiver } = watched;
  const lastSettledAt = new Date(app.now() - 26 * DAY_MS).toISOString();
  const resource = `https://${HOST}/weather`;
  const row = { resource, method: 'GET', listedAs: null, differences: [], reasons: [] } as const;
  const indexed = [{ ...row, index: 'bazaar', state: 'listed', lastSettledAt }] as const;
  app.scanner.will(HOST, toSellerScan({ report: { indexed } }));
  await watched.startAgreed();
  expect(receiver.eventTypes()).toEqual(['watch.started', 'listing.lapsing']);
});

test('an event cuts and cleans the text of an origin, and has at most 20 KiB', async () => {
  await using seller = await startWatchedSeller();
  const { watched, secret } = seller;
  const offer = { ...OFFER, payTo: 'x'.repeat(5_000), asset: 'a\u202eb\nc' };
  const answer = answerWith(offer)({ method: 'GET', path: '/weather' });
  const offers =
    answer.kind === 'answered' ? Array.from({ length: 64 }, () => answer.offers[0]) : [];
  watched.answerResource = answerWith(offer, { offers });
  await advanceToNextLook(watched, secret);
  const [event] = watched.receiver.received;
  expect(Buffer.byteLength(event?.body ?? '')).toBeLessThanOrEqual(20 * 1_024);
  expect(event?.body).not.toContain('\u202e');
  expect(event?.body).not.toContain('x'.repeat(121));
});
