import { expect, test } from 'vitest';
import { OriginRefused } from '../../src/guard/errors.ts';
import type { ResourceAnswer } from '../../src/looks/ask-resources.ts';
import { ScannerFailure } from '../../src/scan/scanner.ts';
import { toSecondOfDay } from '../../src/watch/plan.ts';
import type { CannedScan } from '../scan/fake-scanner.ts';
import { OFFER, sells } from './seller-report.ts';
import { HOST, startWatchedApp, type WatchedApp } from './watched-app.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
function answered(offer: typeof OFFER | null = OFFER, more: object = {}) {
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
    schemaOutcome: null,
    ...more,
  });
}

async function watchedSeller(first: CannedScan = sells()) {
  const watched = await startWatchedApp();
  watched.app.scanner.will(HOST, first);
  watched.asked = answered();
  const secret = await watched.agreed();
  watched.receiver.received.length = 0;
  return { watched, secret, [Symbol.asyncDispose]: () => watched[Symbol.asyncDispose]() };
}

/** Moves the clock just past the next look. */
async function nextLook(watched: WatchedApp, secret: string): Promise<void> {
  const { body } = await watched.call('status', secret);
  const atMs = Date.parse(String(body['nextLookAt']));
  await watched.pass(Math.max(0, atMs - watched.app.now()));
}

/** Moves the clock past the next daily scan. */
async function nextDay(watched: WatchedApp, secret: string): Promise<void> {
  const scans = watched.app.scanner.began.length;
  while (watched.app.scanner.began.length === scans) await nextLook(watched, secret);
}

function told({ receiver }: WatchedApp) {
  return receiver.received.map(({ event }) => [
    event.type,
    event.data['before'],
    event.data['after'],
  ]);
}

test("a daily scan begins at the host's second of the UTC day; every hour the watch asks the resources", async () => {
  await using seller = await watchedSeller();
  const { watched, secret } = seller;
  const { app } = watched;
  expect(app.scanner.began).toHaveLength(1);
  await nextDay(watched, secret);
  expect((app.now() % DAY_MS) / 1_000).toBe(toSecondOfDay(HOST));
  const startMs = app.now();
  const asked = watched.asking.length;
  for (let hour = 1; hour < 24; hour += 1) await nextLook(watched, secret);
  expect(app.now() - startMs).toBe(23 * HOUR_MS);
  expect(app.scanner.began).toHaveLength(2);
  expect(watched.asking.length - asked).toBe(23);
  await nextLook(watched, secret);
  expect(app.scanner.began).toHaveLength(3);
  expect(told(watched)).toEqual([]);
  expect(watched.troubles).toEqual([]);
});

test('a worse grade and failed checks are reported if a second scan ten minutes later confirms them', async () => {
  await using seller = await watchedSeller();
  const { watched, secret } = seller;
  const failing = { status: 'fail', outcome: 'no-h1', evidence: 'x' } as const;
  const waiting = {
    status: 'fail',
    basis: 'not_evaluated',
    outcome: 'prerequisite-failed',
  } as const;
  const results = { S7: failing, S8: waiting };
  watched.app.scanner.will(HOST, sells({ grade: 'C', score: 71, results }));
  await nextDay(watched, secret);
  expect(told(watched)).toEqual([]);
  await watched.pass(10 * MINUTE_MS - 1);
  expect(told(watched)).toEqual([]);
  await watched.pass(1);
  expect(told(watched)).toEqual([
    ['grade.changed', { grade: 'A', score: 95 }, { grade: 'C', score: 71 }],
    [
      'check.failed',
      expect.objectContaining({ id: 'S7', status: 'pass' }),
      { id: 'S7', status: 'fail', outcome: 'no-h1' },
    ],
  ]);
  // Recoveries are sent at once.
  watched.receiver.received.length = 0;
  watched.app.scanner.will(HOST, sells());
  await nextDay(watched, secret);
  expect(told(watched).map(([type]) => type)).toEqual(['grade.changed', 'check.recovered']);
});

test('a failure that is mended after ten minutes is not reported', async () => {
  await using seller = await watchedSeller();
  const { watched, secret } = seller;
  watched.app.scanner.will(HOST, sells({ grade: 'F', score: 3 }));
  await nextDay(watched, secret);
  watched.app.scanner.will(HOST, sells());
  await watched.pass(10 * MINUTE_MS);
  watched.asked = (resource) => ({ ...resource, kind: 'unreachable' });
  await nextLook(watched, secret);
  watched.asked = answered();
  await watched.pass(10 * MINUTE_MS);
  for (let n = 0; n < 30; n += 1) await nextLook(watched, secret);
  expect(told(watched)).toEqual([]);
});

test('changed terms and recoveries are reported at once', async () => {
  await using seller = await watchedSeller();
  const { watched, secret } = seller;
  const dearer = { ...OFFER, amount: '90000', payTo: '0xother' };
  watched.asked = answered(dearer);
  await nextLook(watched, secret);
  const resource = { method: 'GET', path: '/weather' };
  expect(told(watched)).toEqual([
    ['terms.changed', { ...resource, offers: [OFFER] }, { ...resource, offers: [dearer] }],
  ]);
  // The daily scan sees the same terms, so no second event follows.
  watched.app.scanner.will(HOST, sells({}, dearer));
  await nextDay(watched, secret);
  expect(told(watched)).toHaveLength(1);

  watched.asked = answered(null);
  await nextLook(watched, secret);
  expect(told(watched)).toHaveLength(1);
  await nextLook(watched, secret);
  expect(told(watched).slice(1)).toEqual([
    ['payability.changed', { payableBy: 'default' }, { payableBy: 'nobody' }],
  ]);
  watched.asked = answered(dearer);
  await nextLook(watched, secret);
  expect(told(watched).slice(2)).toEqual([
    ['payability.changed', { payableBy: 'nobody' }, { payableBy: 'default' }],
  ]);
});

test('an origin that stops answering is reported, and its return too', async () => {
  await using seller = await watchedSeller();
  const { watched, secret } = seller;
  watched.asked = (resource) => ({ ...resource, kind: 'unreachable' });
  await nextLook(watched, secret);
  await nextLook(watched, secret);
  expect(told(watched)).toEqual([
    ['origin.unreachable', { reachable: true }, { reachable: false }],
  ]);
  watched.asked = answered();
  await nextLook(watched, secret);
  expect(told(watched).slice(1)).toEqual([
    ['origin.recovered', { reachable: false }, { reachable: true }],
  ]);
});

test('a challenge that breaks P3 is a failed check until every challenge is correct', async () => {
  await using seller = await watchedSeller();
  const { watched, secret } = seller;
  watched.asked = answered(OFFER, { schemaOutcome: 'no-pay-to' });
  await nextLook(watched, secret);
  await nextLook(watched, secret);
  watched.asked = answered();
  await nextLook(watched, secret);
  expect(told(watched).map(([type, , after]) => [type, after])).toEqual([
    ['check.failed', { id: 'P3', status: 'fail', outcome: 'no-pay-to' }],
    ['check.recovered', { id: 'P3', status: 'pass', outcome: 'valid' }],
  ]);
});

test('our own failures and 429 answers do not count as looks', async () => {
  await using seller = await watchedSeller();
  const { watched, secret } = seller;
  const { scanner } = watched.app;
  watched.asked = null;
  await nextLook(watched, secret);
  watched.asked = (resource) => ({ ...resource, kind: 'unknown' });
  await nextLook(watched, secret);
  scanner.will(HOST, { failure: new ScannerFailure('ours') });
  await nextDay(watched, secret);
  const fault = { status: 'fail', outcome: 'fault' } as const;
  scanner.will(HOST, sells({ grade: 'F', score: 0, results: { S7: fault } }));
  await nextDay(watched, secret);
  await watched.pass(10 * MINUTE_MS);
  expect(told(watched)).toEqual([]);
  expect(watched.troubles.map(({ message }) => message)).toEqual(
    expect.arrayContaining(['a look failed']),
  );
});

test('a name that now resolves to a blocked address is unreachable', async () => {
  await using seller = await watchedSeller();
  const { watched, secret } = seller;
  watched.app.scanner.will(HOST, { failure: new OriginRefused('blocked_ip') });
  watched.asked = (resource) => ({ ...resource, kind: 'unreachable' });
  await nextDay(watched, secret);
  await nextLook(watched, secret);
  expect(told(watched).map(([type]) => type)).toEqual(['origin.unreachable']);
});

test("any paid scan counts as that day's, and is compared like a look", async () => {
  await using seller = await watchedSeller();
  const { watched, secret } = seller;
  const { app } = watched;
  await watched.pass(DAY_MS - (app.now() % DAY_MS));
  const looked = app.scanner.began.length;
  await app.publish(HOST, sells({ grade: 'B', score: 85 }));
  watched.watching.onPublished(HOST);
  await watched.watching.idle();
  expect(told(watched)).toEqual([]);
  await watched.pass(10 * MINUTE_MS);
  expect(told(watched)).toEqual([
    ['grade.changed', { grade: 'A', score: 95 }, { grade: 'B', score: 85 }],
  ]);
  // One scan of the payer, and one that confirmed it.
  expect(app.scanner.began.length - looked).toBe(2);
  await watched.pass(DAY_MS - (app.now() % DAY_MS) - 1);
  expect(app.scanner.began.length - looked).toBe(2);

  // A paid scan that was published while the process was down is compared at the next look.
  watched.receiver.received.length = 0;
  app.advance(MINUTE_MS);
  await app.publish(HOST, sells({ grade: 'A', score: 95 }));
  await nextLook(watched, secret);
  expect(told(watched).map(([type]) => type)).toEqual(['grade.changed']);
});

test('a watch renews itself while the file is served; otherwise it announces its end, and ends', async () => {
  await using seller = await watchedSeller();
  const { watched, secret } = seller;
  const { app } = watched;
  const endsAt = async () =>
    Date.parse(String((await watched.call('status', secret)).body['endsAt']));
  for (let day = 0; day < 3; day += 1) await nextDay(watched, secret);
  const renewed = await endsAt();
  expect(renewed).toBeGreaterThan(app.now() + 29 * DAY_MS);
  app.challenges.clear();
  await nextDay(watched, secret);
  expect(await endsAt()).toBe(renewed);
  await watched.pass(renewed - 3 * DAY_MS - app.now() - 1);
  expect(told(watched)).toEqual([]);
  await watched.pass(1);
  expect(told(watched)).toEqual([['watch.ending', null, null]]);
  expect(watched.receiver.received[0]?.event.data['endsAt']).toBe(new Date(renewed).toISOString());
  await watched.pass(renewed - app.now());
  expect((await watched.call('status', secret)).body).toMatchObject({ state: 'ended' });
  await watched.pass(31 * DAY_MS);
  await app.store.purge(app.now());
  expect((await watched.call('status', secret)).status).toBe(403);
}, 120_000);

test('an opt-out does not end the watch', async () => {
  await using seller = await watchedSeller();
  const { watched, secret } = seller;
  await watched.app.store.listing.set(HOST, { listed: false });
  watched.asked = answered({ ...OFFER, amount: '1' });
  await nextLook(watched, secret);
  expect(told(watched).map(([type]) => type)).toEqual(['terms.changed']);
});

test('a listing whose newest settlement is 25 days old is reported once, and again after a newer one', async () => {
  await using watched = await startWatchedApp();
  const { app, receiver } = watched;
  const resource = `https://${HOST}/weather`;
  const row = { resource, method: 'GET', listedAs: null, differences: [], reasons: [] } as const;
  const settled = (atMs: number | null, index: 'bazaar' | 'x402scan' = 'bazaar') => {
    const seen = atMs === null ? {} : { lastSettledAt: new Date(atMs).toISOString() };
    app.scanner.will(
      HOST,
      sells({ report: { indexed: [{ ...row, index, state: 'listed', ...seen }] } }),
    );
  };
  const lapsing = () =>
    receiver.received
      .filter(({ type }) => type === 'listing.lapsing')
      .map(({ event }) => event.data);
  const first = app.now() - 24 * DAY_MS;
  settled(first);
  const secret = await watched.agreed();
  expect(lapsing()).toEqual([]);
  await nextDay(watched, secret);
  if (app.now() - first < 25 * DAY_MS) await nextDay(watched, secret);
  const told = {
    resource,
    lastSettledAt: new Date(first).toISOString(),
    lapsesAt: new Date(first + 30 * DAY_MS).toISOString(),
  };
  expect(lapsing()).toEqual([expect.objectContaining({ before: null, after: told })]);

  // No event follows if the index is silent, gives an older answer, or is another index.
  settled(null);
  await nextDay(watched, secret);
  settled(first - DAY_MS);
  await nextDay(watched, secret);
  settled(first);
  await nextDay(watched, secret);
  settled(app.now() - 26 * DAY_MS, 'x402scan');
  await nextDay(watched, secret);
  expect(lapsing()).toHaveLength(1);

  const newer = app.now() - 25 * DAY_MS + HOUR_MS;
  settled(newer);
  await nextDay(watched, secret);
  await nextDay(watched, secret);
  expect(lapsing()).toHaveLength(2);
  expect(lapsing()[1]?.['after']).toMatchObject({ lastSettledAt: new Date(newer).toISOString() });
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
  app.scanner.will(HOST, sells({ report: { indexed } }));
  await watched.agreed();
  expect(receiver.types()).toEqual(['watch.started', 'listing.lapsing']);
});

test('text of an origin is cut and cleaned, and an event has at most 20 KiB', async () => {
  await using seller = await watchedSeller();
  const { watched, secret } = seller;
  const offer = { ...OFFER, payTo: 'x'.repeat(5_000), asset: 'a\u202eb\nc' };
  const [one] = [answered(offer)({ method: 'GET', path: '/weather' })];
  const offers = one?.kind === 'answered' ? Array.from({ length: 64 }, () => one.offers[0]) : [];
  watched.asked = answered(offer, { offers });
  await nextLook(watched, secret);
  const [event] = watched.receiver.received;
  expect(Buffer.byteLength(event?.body ?? '')).toBeLessThanOrEqual(20 * 1_024);
  expect(event?.body).not.toContain('\u202e');
  expect(event?.body).not.toContain('x'.repeat(121));
});
