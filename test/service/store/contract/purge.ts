/** Both stores: the purge. */
import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { LedgerState } from '../../../../src/service/store/payment-tables.ts';
import type { Store } from '../../../../src/service/store/store.ts';
import { collect, issuedToken, ledgerStep, publishedScan, scanResult } from './samples.ts';
import type { ContractSubject } from './subject.ts';
import { DAY_MS, freshWithClock, HOUR_MS, MINUTE_MS } from './test-clock.ts';

const HEAD = { status: 200, headers: {} };

export function purgeForgets(subject: ContractSubject): void {
  describe('purge', () => {
    test('deletes a finished key whole, 48 h after its last step', async () => {
      const { clock, store } = await freshWithClock(subject);
      await write(store, 'k', ['claimed', 'computed', 'settling', 'settled', 'published']);
      await store.ledger.markWritten('k');
      await store.purge(clock.advance(2 * DAY_MS - 1));
      expect(await store.ledger.findAllSteps('k')).toHaveLength(5);
      expect((await store.purge(clock.advance(1))).ledgerKeys).toBe(1);
      expect(await store.ledger.findEntry('k')).toBeNull();
      // The key starts again at step 1, and has no mark of the earlier answer.
      await write(store, 'k', ['claimed']);
      expect((await store.ledger.findEntry('k'))?.writtenAtMs).toBeNull();
    });

    test('keeps a key until 48 h after its authorization ended', async () => {
      const { clock, store } = await freshWithClock(subject);
      const validBeforeMs = clock.now() + 10 * DAY_MS;
      const states = ['claimed', 'computed', 'settling', 'released'] as const;
      await write(store, 'k', states, { validBeforeMs });
      await store.purge(clock.advance(12 * DAY_MS - 1));
      expect(await store.ledger.findEntry('k')).not.toBeNull();
      await store.purge(clock.advance(1));
      expect(await store.ledger.findEntry('k')).toBeNull();
    });

    test('deletes a key that was released before it was ever sent after an hour', async () => {
      const { clock, store } = await freshWithClock(subject);
      const validBeforeMs = clock.now() + DAY_MS;
      await write(store, 'k', ['claimed', 'released'], { validBeforeMs });
      await write(store, 'claimed again', ['claimed', 'released', 'claimed'], { validBeforeMs });
      await write(store, 'sent', ['claimed', 'computed', 'settling', 'released'], {
        validBeforeMs,
      });
      await store.purge(clock.advance(HOUR_MS - 1));
      expect(await store.ledger.findEntry('k')).not.toBeNull();
      expect((await store.purge(clock.advance(1))).ledgerKeys).toBe(1);
      expect(await store.ledger.findEntry('k')).toBeNull();
      expect(await store.ledger.findEntry('claimed again')).not.toBeNull();
      expect(await store.ledger.findEntry('sent')).not.toBeNull();
    });

    test('never deletes an unfinished key, or the rows that it needs', async () => {
      const { clock, store } = await freshWithClock(subject);
      const result = scanResult({ scannedAtMs: clock.now() });
      await store.results.save(result);
      await store.answers.put('a', HEAD, [Buffer.from('paid?')]);
      const names = { scanId: result.scanId, answerId: 'a' };
      await store.ledger.append(ledgerStep('k', 1, 'claimed'));
      await store.ledger.append(ledgerStep('k', 2, 'computed', names));
      await store.ledger.append(ledgerStep('k', 3, 'unknown'));
      await store.purge(clock.advance(60 * DAY_MS));
      expect((await collect(store.ledger.findUnfinished())).map((entry) => entry.key)).toEqual([
        'k',
      ]);
      expect(await store.answers.get('a')).not.toBeNull();
      expect(await store.results.findByScan(result.scanId)).not.toBeNull();

      await store.ledger.append(ledgerStep('k', 4, 'failed'));
      await store.purge(clock.now());
      expect(await store.answers.get('a')).toBeNull();
      expect(await store.results.findByScan(result.scanId)).toBeNull();
      expect(await store.ledger.findEntry('k')).not.toBeNull();
    });

    test('keeps an answer for 24 h after the last settlement that names it', async () => {
      const { clock, store } = await freshWithClock(subject);
      await store.answers.put('a', HEAD, [Buffer.from('shared')]);
      const states: readonly LedgerState[] = ['computed', 'settled', 'published'];
      await write(store, 'early', states, { answerId: 'a' });
      clock.advance(10 * MINUTE_MS);
      await write(store, 'late', states, { answerId: 'a' });
      await store.purge(clock.advance(DAY_MS - 1));
      const answer = await store.answers.get('a');
      expect(answer).not.toBeNull();
      expect((await store.purge(clock.advance(1))).answers).toBe(1);
      expect(await store.answers.get('a')).toBeNull();
      await expect(collect(answer?.body() ?? none())).rejects.toMatchObject({ code: 'corrupt' });
    });

    test('deletes an unpaid answer after an hour, and one that broke off', async () => {
      const { clock, store } = await freshWithClock(subject);
      await store.answers.put('released', HEAD, [Buffer.from('x')]);
      await write(store, 'k', ['computed', 'released'], { answerId: 'released' });
      await store.answers.put('alone', HEAD, [Buffer.from('x')]);
      await store.purge(clock.advance(HOUR_MS - 1));
      expect(await store.answers.get('alone')).not.toBeNull();
      await store.purge(clock.advance(1));
      expect(await store.answers.get('alone')).toBeNull();
      expect(await store.answers.get('released')).toBeNull();
    });

    test('deletes reports after 24 h and leaves directory, history and changes', async () => {
      const { clock, store } = await freshWithClock(subject);
      const result = scanResult({ scannedAtMs: clock.now() });
      await store.results.save(result);
      await store.publish(publishedScan({ scanId: result.scanId, scannedAtMs: clock.now() }));
      await store.purge(clock.advance(DAY_MS - 1));
      expect(await store.results.findPublished(result.host)).toEqual({
        ...result,
        paidBy: 'payer',
      });
      expect((await store.purge(clock.advance(1))).results).toBe(1);
      expect(await store.results.findPublished(result.host)).toBeNull();
      await store.purge(clock.advance(1_000 * DAY_MS));
      expect(await store.directory.get(result.host)).not.toBeNull();
      expect(await store.history.list(result.host)).toHaveLength(1);
      expect((await store.changes.list({ sinceMs: 0, limit: 9 })).changes).toHaveLength(1);
    });

    test('keeps the report of an answer as long as the answer, and shows it to no other caller', async () => {
      const { clock, store } = await freshWithClock(subject);
      const result = scanResult({ scannedAtMs: clock.now() });
      await store.results.save(result);
      await store.publish(publishedScan({ scanId: result.scanId, scannedAtMs: clock.now() }));
      // The result is sold just before it expires.
      const body = Buffer.from(JSON.stringify({ ...result.report, cache: 'hit' }));
      clock.advance(DAY_MS - 1);
      await store.answers.put('a', HEAD, [body], result.scanId);
      await store.answers.put('unpaid', HEAD, [body], result.scanId);
      const names = { answerId: 'a', scanId: result.scanId };
      await write(store, 'k', ['claimed', 'computed', 'settling', 'settled', 'published'], names);
      for (const laterMs of [1, HOUR_MS, DAY_MS - HOUR_MS - 2]) {
        await store.purge(clock.advance(laterMs));
        expect(await store.results.findByScan(result.scanId)).toBeNull();
        expect(await store.results.findPublished(result.host)).toBeNull();
        const pieces = await collect((await store.answers.get('a'))?.body() ?? none());
        expect(Buffer.concat(pieces).equals(body)).toBe(true);
      }
      const answer = await store.answers.get('a');
      expect((await store.purge(clock.advance(1))).answers).toBe(1);
      expect(await store.answers.get('a')).toBeNull();
      await expect(collect(answer?.body() ?? none())).rejects.toMatchObject({ code: 'corrupt' });
      // The purge deleted the report too, so the same scan can be stored again.
      const other = { ...result, scannedAtMs: clock.now(), report: { other: true } };
      await store.results.save(other);
      expect(await store.results.findByScan(result.scanId)).toEqual(other);
    });

    test('deletes all expired leases, and they can be taken again', async () => {
      const { clock, store } = await freshWithClock(subject);
      const take = () => store.leases.takeSole(['n'], HOUR_MS);
      expect((await take()).taken).toBe(true);
      for (const host of ['a.com', 'b.com', 'b.com']) {
        await store.ownership.issueToken({ host, ...issuedToken(randomUUID()) });
        await store.ownership.beginReading(host);
        await store.ownership.recordFailedConfirm({ host, client: 'c' }, clock.now());
      }
      // First the two leases of readings expire, then the one above, three of tokens and two of failures.
      expect((await store.purge(clock.advance(HOUR_MS - 1))).other).toBe(2);
      expect((await store.purge(clock.advance(1))).other).toBe(6);
      expect((await store.purge(clock.advance(DAY_MS))).other).toBe(0);
      expect((await take()).taken).toBe(true);
      expect((await store.ownership.beginReading('a.com')).taken).toBe(true);
    });

    test('keeps a live lease of any age', async () => {
      const { clock, store } = await freshWithClock(subject);
      const lifetimeMs = 100 * DAY_MS;
      const outcome = await store.leases.takeSole(['n'], lifetimeMs);
      await store.purge(clock.advance(2 * DAY_MS));
      const next = await store.leases.takeSole(['n'], lifetimeMs);
      expect(next.taken).toBe(false);
      expect(outcome.taken && (await store.leases.isHeld(outcome.lease))).toBe(true);
    });

    test('deletes an identifier chain whole, after the keys in it', async () => {
      const { clock, store } = await freshWithClock(subject);
      const scope = { network: 'eip155:8453', payer: '0xpayer', id: 'order-0000000000001' };
      const link = (n: number, key: string) => ({ n, key, request: 'r', attempt: randomUUID() });
      await store.identifiers.append(scope, link(1, 'k1'));
      await write(store, 'k1', ['claimed', 'released']);
      clock.advance(DAY_MS);
      await store.identifiers.append(scope, link(2, 'k2'));
      await write(store, 'k2', ['claimed']);
      await store.purge(clock.advance(3 * DAY_MS));
      expect(await store.identifiers.findLinks(scope, 10)).toHaveLength(2);
      await store.ledger.append(ledgerStep('k2', 2, 'released'));
      await store.purge(clock.advance(2 * DAY_MS));
      expect(await store.identifiers.findLinks(scope, 10)).toEqual([]);
      expect(await store.identifiers.append(scope, link(1, 'k3'))).toBe('won');
    });

    test('deletes old snapshots and unpaid marks', async () => {
      const { clock, store } = await freshWithClock(subject);
      const atMs = clock.now();
      await store.snapshots.put({ source: 's', key: 'k', takenAtMs: atMs, data: 1 });
      await store.results.noteUnpaid({
        payer: '0xpayer',
        scanId: 's',
        host: 'a.com',
        isDebt: true,
      });
      await store.purge(clock.advance(DAY_MS - 1));
      expect(await store.results.findUnpaid('0xpayer', 0)).toHaveLength(1);
      expect((await store.purge(clock.advance(1))).other).toBe(1);
      expect(await store.results.findUnpaid('0xpayer', 0)).toEqual([]);
      expect((await store.purge(clock.advance(89 * DAY_MS - 1))).other).toBe(0);
      expect(await store.snapshots.get('s', 'k')).not.toBeNull();
      expect((await store.purge(clock.advance(1))).other).toBe(1);
      expect(await store.snapshots.get('s', 'k')).toBeNull();
    });

    test('works through more than one batch', async () => {
      const { clock, store } = await freshWithClock(subject);
      for (let n = 0; n < 250; n += 1) {
        await store.results.save(scanResult({ scannedAtMs: clock.now() }));
        await write(store, `k${n}`, ['released']);
      }
      const report = await store.purge(clock.advance(2 * DAY_MS));
      expect(report).toMatchObject({ results: 250, ledgerKeys: 250 });
    });
  });
}

async function write(
  { ledger }: Store,
  key: string,
  states: readonly LedgerState[],
  more = {},
): Promise<void> {
  for (const [index, state] of states.entries()) {
    await ledger.append(ledgerStep(key, index + 1, state, more));
  }
}

async function* none(): AsyncGenerator<Uint8Array> {
  yield* [];
}
