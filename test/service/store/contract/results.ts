/** Both stores: scan results and unpaid scans. */
import { describe, expect, test } from 'vitest';
import { publishedScan, scanResult } from './samples.ts';
import type { ContractSubject } from './subject.ts';
import { freshWithClock, MINUTE_MS } from './test-clock.ts';

export function resultsWait(subject: ContractSubject): void {
  describe('scan results', () => {
    test('keep the first result of a scan, whole', async () => {
      const store = await subject.fresh();
      const result = scanResult();
      await store.results.save(result);
      await store.results.save({ ...result, report: { grade: 'F' } });
      const again = await subject.restart(store);
      expect(await again.results.findByScan(result.scanId)).toEqual(result);
      expect(await again.results.findByScan('never')).toBeNull();
    });

    test('keep the first recording of a scan, or that it is too large, for an hour', async () => {
      const { clock, store } = await freshWithClock(subject);
      const text = JSON.stringify({ text: 'x'.repeat(2_000_000) });
      await store.results.keepRecording('one', { text });
      await store.results.keepRecording('one', { text: '{}' });
      await store.results.keepRecording('large', { text: null });
      const kept = async () => [
        await store.results.findRecording('one'),
        await store.results.findRecording('large'),
        await store.results.findRecording('never'),
      ];
      expect(await kept()).toEqual([{ text }, { text: null }, null]);
      await store.purge(clock.advance(60 * MINUTE_MS - 1));
      expect(await kept()).toEqual([{ text }, { text: null }, null]);
      await store.purge(clock.advance(1));
      expect(await kept()).toEqual([null, null, null]);
    });

    test('offer the newest finished result that nobody has paid for', async () => {
      const { clock, results } = await freshWithClock(subject);
      const older = scanResult({ scannedAtMs: clock.now() });
      const newer = scanResult({ scannedAtMs: clock.advance(MINUTE_MS) });
      await results.save(newer);
      await results.save(older);
      await results.save(scanResult({ host: 'other.example.com', scannedAtMs: clock.now() + 1 }));
      expect(await results.findUnpublished('api.example.com', 0)).toEqual(newer);
      expect(await results.findUnpublished('api.example.com', clock.now())).toEqual(newer);
      expect(await results.findUnpublished('api.example.com', clock.now() + 1)).toBeNull();
    });

    test('do not offer a published result, and serve it to all instead', async () => {
      const store = await subject.fresh();
      const result = scanResult();
      await store.results.save(result);
      expect(await store.results.findPublished(result.host)).toBeNull();
      await store.publish(publishedScan({ scanId: result.scanId }));
      expect(await store.results.findUnpublished(result.host, 0)).toBeNull();
      expect(await store.results.findPublished(result.host)).toEqual({
        ...result,
        paidBy: 'payer',
      });
    });

    test('serve the result with the greatest scan time, whichever was published last', async () => {
      const store = await subject.fresh();
      const older = scanResult();
      const newer = scanResult({ scannedAtMs: older.scannedAtMs + 1 });
      for (const { scanId, scannedAtMs, ...rest } of [newer, older]) {
        await store.results.save({ scanId, scannedAtMs, ...rest });
        await store.publish(publishedScan({ scanId, scannedAtMs }));
      }
      expect(await store.results.findPublished(older.host)).toEqual({ ...newer, paidBy: 'payer' });
    });

    test('refuse a report that is too large for either database', async () => {
      const { results } = await subject.fresh();
      const report = { text: 'x'.repeat(9 * 1024 * 1024) };
      await expect(results.save(scanResult({ report }))).rejects.toMatchObject({
        code: 'too_large',
      });
    });

    test('know the scans that a payer left unpaid, and which of them are debts', async () => {
      const { clock, results } = await freshWithClock(subject);
      const startMs = clock.now();
      const mark = { payer: '0xpayer', scanId: 's1', host: 'api.example.com', isDebt: true };
      await results.noteUnpaid(mark);
      await results.noteUnpaid(mark);
      await results.noteUnpaid({ ...mark, payer: '0xother' });
      clock.advance(MINUTE_MS);
      await results.noteUnpaid({ ...mark, scanId: 's2' });

      expect(await results.findUnpaid('0xpayer', startMs)).toEqual([
        { ...mark, scanId: 's2', atMs: startMs + MINUTE_MS },
        { ...mark, atMs: startMs },
      ]);
      expect(await results.findUnpaid('0xpayer', startMs + 1)).toHaveLength(1);
      await results.clearUnpaid({ payer: '0xpayer', scanId: 's2' });
      expect((await results.findUnpaid('0xpayer', startMs)).map(({ scanId }) => scanId)).toEqual([
        's1',
      ]);
    });

    test('make a mark a debt when its scan has ended, and never undo this', async () => {
      const { clock, results } = await freshWithClock(subject);
      const mark = { payer: '0xpayer', scanId: 's1', host: 'api.example.com' };
      await results.noteUnpaid({ ...mark, isDebt: false });
      expect(await results.findUnpaid('0xpayer', 0)).toMatchObject([{ isDebt: false }]);
      const endedMs = clock.advance(MINUTE_MS);
      await results.noteUnpaid({ ...mark, isDebt: true });
      await results.noteUnpaid({ ...mark, isDebt: false });
      expect(await results.findUnpaid('0xpayer', 0)).toMatchObject([
        { isDebt: true, atMs: endedMs },
      ]);
    });
  });
}
