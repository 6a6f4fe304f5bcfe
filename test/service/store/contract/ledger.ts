/** Both stores: each step of the ledger is one insert. */
import { describe, expect, test } from 'vitest';
import type { LedgerState } from '../../../../src/service/store/payment-tables.ts';
import type { Store } from '../../../../src/service/store/store.ts';
import { collect, ledgerStep } from './samples.ts';
import type { ContractSubject } from './subject.ts';
import { freshWithClock, MINUTE_MS, TestClock } from './test-clock.ts';

export function ledgerAppends(subject: ContractSubject): void {
  describe('ledger', () => {
    test('gives a step to the first writer and refuses the second', async () => {
      const { ledger } = await subject.fresh();
      const first = ledgerStep('k', 1, 'claimed', { data: { price: '50000' } });
      expect(await ledger.append(first)).toBe('won');
      expect(await ledger.append(ledgerStep('k', 1, 'claimed', { data: { price: '1' } }))).toBe(
        'lost',
      );
      expect((await ledger.findEntry('k'))?.last.data).toEqual({ price: '50000' });
    });

    test('tells a writer whose reply was lost that it had won', async () => {
      const { ledger } = await subject.fresh();
      const step = ledgerStep('k', 1, 'claimed');
      expect(await ledger.append(step)).toBe('won');
      expect(await ledger.append(step)).toBe('won');
      expect((await ledger.findEntry('k'))?.rows).toHaveLength(1);
    });

    test('lets exactly one of many racers make each step', async () => {
      const { ledger } = await subject.fresh();
      for (const step of [1, 2, 3]) {
        const racers = Array.from({ length: 20 }, () =>
          ledger.append(ledgerStep('k', step, 'claimed')),
        );
        const outcomes = await Promise.all(racers);
        expect(outcomes.filter((outcome) => outcome === 'won')).toHaveLength(1);
      }
    });

    test('reads back every member of a step, with time and owner', async () => {
      const clock = new TestClock();
      const owner = { host: 'host-1', boot: 'boot-1' };
      const { ledger } = await subject.fresh({ clock: clock.now, owner });
      const claim = ledgerStep('k', 1, 'claimed', { validBeforeMs: 1_790_000_000_000 });
      const computed = ledgerStep('k', 2, 'computed', {
        scanId: 'scan-1',
        answerId: 'answer-1',
        data: { nested: [{ text: 'é"\u0001' }, null, 1.5], gone: undefined },
      });
      const atMs = clock.now();
      await ledger.append(claim);
      clock.advance(7);
      await ledger.append(computed);

      const entry = await ledger.findEntry('k');
      expect(entry?.rows.map((row) => row.step)).toEqual([1, 2]);
      expect(entry?.rows[0]).toEqual({ ...claim, atMs, owner });
      expect(entry?.last).toEqual({
        ...computed,
        data: { nested: [{ text: 'é"\u0001' }, null, 1.5] },
        atMs: atMs + 7,
        owner,
      });
      expect(entry?.writtenAtMs).toBeNull();
      expect(await ledger.findEntry('other')).toBeNull();
    });

    test('reads the last claim of a key, and every step on request', async () => {
      const { ledger } = await subject.fresh();
      for (let step = 1; step <= 40; step += 2) {
        await ledger.append(ledgerStep('k', step, 'claimed', { data: { claim: step } }));
        await ledger.append(ledgerStep('k', step + 1, 'released'));
      }
      const released = await ledger.findEntry('k');
      expect(released?.rows.map(({ step }) => step)).toEqual([39, 40]);
      await ledger.append(ledgerStep('k', 41, 'claimed', { data: { claim: 41 } }));
      await ledger.append(ledgerStep('k', 42, 'computed'));
      const claimed = await ledger.findEntry('k');
      expect(claimed?.rows.map(({ state }) => state)).toEqual(['claimed', 'computed']);
      expect(claimed?.rows[0]?.data).toEqual({ claim: 41 });
      expect((await collect(ledger.findUnfinished())).map(({ rows }) => rows.length)).toEqual([2]);
      const steps = Array.from({ length: 42 }, (_none, index) => index + 1);
      expect((await ledger.findAllSteps('k')).map(({ step }) => step)).toEqual(steps);
      expect(await ledger.findAllSteps('other')).toEqual([]);
    });

    test('reads a claim of many steps whole', async () => {
      const { ledger } = await subject.fresh();
      await ledger.append(ledgerStep('k', 1, 'claimed'));
      for (let step = 2; step <= 30; step++) await ledger.append(ledgerStep('k', step, 'unknown'));
      expect((await ledger.findEntry('k'))?.rows).toHaveLength(30);
    });

    test('lists keys that are not finished, oldest first, and after a restart too', async () => {
      const { clock, store } = await freshWithClock(subject);
      const ends: readonly LedgerState[] = [
        'claimed',
        'computed',
        'settling',
        'settled',
        'unknown',
        'published',
        'released',
        'failed',
      ];
      for (const end of ends) {
        clock.advance(1);
        await writeUpTo(store, end);
      }
      const unfinished = ['claimed', 'computed', 'settling', 'settled', 'unknown'];
      expect(await openKeys(store)).toEqual(unfinished);
      expect(await openKeys(await subject.restart(store, { clock: clock.now }))).toEqual(
        unfinished,
      );
    });

    test('lists a released key again once it was claimed anew', async () => {
      const store = await subject.fresh();
      await store.ledger.append(ledgerStep('k', 1, 'claimed'));
      await store.ledger.append(ledgerStep('k', 2, 'released'));
      expect(await openKeys(store)).toEqual([]);
      await store.ledger.append(ledgerStep('k', 3, 'claimed'));
      expect(await openKeys(store)).toEqual(['k']);
      // A writer that lost the reply repeats the release, and changes nothing.
      expect(await store.ledger.append(ledgerStep('k', 2, 'released'))).toBe('lost');
      expect(await openKeys(store)).toEqual(['k']);
    });

    test('finds keys of a payer and request that are unfinished or were settled lately, and counts the latter', async () => {
      const clock = new TestClock();
      const { ledger, markWritten } = await subject
        .fresh({ clock: clock.now })
        .then((store) => ({ ledger: store.ledger, markWritten: store.ledger.markWritten }));
      const request = 'GET /v1/changes 0 100';
      const finish = async (key: string, more = {}): Promise<void> => {
        await ledger.append(ledgerStep(key, 1, 'claimed', { request, ...more }));
        await ledger.append(ledgerStep(key, 2, 'settled', { request, ...more }));
        await ledger.append(ledgerStep(key, 3, 'published', { request, ...more }));
      };
      await ledger.append(ledgerStep('old-unknown', 1, 'unknown', { request }));
      await finish('old-finished');
      clock.advance(20 * MINUTE_MS);
      const sinceMs = clock.now();
      await finish('recent');
      clock.advance(1);
      await finish('newest');
      await finish('other-payer', { payer: '0xother' });
      await finish('other-request', { request: 'GET /v1/changes 0 101' });
      await markWritten('recent');
      await ledger.append(ledgerStep('released', 1, 'claimed', { request }));
      await ledger.append(ledgerStep('released', 2, 'released', { request }));

      const found = await ledger.findRecent({ payer: '0xpayer', request, sinceMs });
      expect(found.map((entry) => entry.key)).toEqual(['newest', 'recent', 'old-unknown']);
      expect(found.map((entry) => entry.writtenAtMs !== null)).toEqual([false, true, false]);
      const unwritten = await ledger.findRecent({
        payer: '0xpayer',
        request,
        sinceMs,
        withoutWritten: true,
      });
      expect(unwritten.map((entry) => entry.key)).toEqual(['newest', 'old-unknown']);
      const settled = (limit: number) => ledger.countSettled({ payer: '0xpayer', sinceMs, limit });
      expect(await settled(10)).toBe(3);
      expect(await settled(2)).toBe(2);
    });

    test('finds the doubts of a payer, over all its keys, since an instant', async () => {
      const { clock, ledger } = await freshWithClock(subject);
      const doubt = async (key: string, more = {}) => {
        await ledger.append(ledgerStep(key, 1, 'claimed', more));
        await ledger.append(ledgerStep(key, 2, 'unknown', { data: { key }, ...more }));
      };
      await doubt('before');
      clock.advance(1);
      const sinceMs = clock.now();
      await doubt('one');
      await doubt('two');
      await doubt('other', { payer: '0xother' });
      await ledger.append(ledgerStep('two', 3, 'settled'));
      const found = await ledger.findUnknownSteps({ payer: '0xpayer', sinceMs });
      expect(found.map(({ data }) => data['key']).toSorted()).toEqual(['one', 'two']);
    });

    test('takes no step whose predecessor was purged', async () => {
      const { ledger } = await subject.fresh();
      expect(await ledger.append(ledgerStep('gone', 3, 'claimed'))).toBe('lost');
      expect(await ledger.findEntry('gone')).toBeNull();
    });

    test('keeps the first mark of a written answer', async () => {
      const { clock, ledger } = await freshWithClock(subject);
      await ledger.append(ledgerStep('k', 1, 'claimed'));
      const firstMs = clock.now();
      await ledger.markWritten('k');
      clock.advance(5);
      await ledger.markWritten('k');
      expect((await ledger.findEntry('k'))?.writtenAtMs).toBe(firstMs);
    });
  });
}

async function writeUpTo({ ledger }: Store, end: LedgerState): Promise<void> {
  await ledger.append(ledgerStep(end, 1, 'claimed'));
  if (end !== 'claimed') await ledger.append(ledgerStep(end, 2, end));
}

async function openKeys({ ledger }: Store): Promise<readonly string[]> {
  return (await collect(ledger.findUnfinished())).map((entry) => entry.key);
}
