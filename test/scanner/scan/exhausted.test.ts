/** A scan whose documents take all its processor time still gives a report and a recording. */
import { expect, onTestFinished, test } from 'vitest';
import { parseRecording } from '../../../src/scanner/probe/read-recording.ts';
import { toRecording } from '../../../src/scanner/probe/recording.ts';
import { gradeObservations } from '../../../src/scanner/scan/grade-observations.ts';
import { ScannerFailure } from '../../../src/scanner/scan/scanner.ts';
import { startCraftedSeller } from '../../fixtures/origins/crafted-seller.ts';
import { loadEngine, scanLoopback } from './engine-under-test.ts';

/** Scans a valid seller with an engine whose budgets every seller exceeds. */
async function startScan(budgets: { readonly originMs: number; readonly lightMs: number }) {
  const engine = await loadEngine(budgets);
  const seller = await startCraftedSeller();
  onTestFinished(async () => {
    await Promise.all([engine.pool.close(), seller[Symbol.asyncDispose]()]);
  });
  return { pendingScan: scanLoopback(seller.url, engine), seller, engine };
}

test('an exhausted scan fails every check on its documents, requests no path that the documents name, and replays to the same report', async () => {
  const { pendingScan, seller, engine } = await startScan({ originMs: 0.05, lightMs: 0 });
  const { report, observations } = await pendingScan;
  expect(report).toMatchObject({ grade: 'F', score: 0, exhausted: ['origin'] });
  expect(report.results).toHaveLength(25);
  for (const { category, status, outcome } of report.results) {
    const expected = category === 'directory' ? 'warn offline' : 'fail limits';
    expect(`${status} ${outcome}`).toBe(expected);
  }
  // The plan used up the budget, so the scan requested no path of the plan.
  expect(observations.resources.planFailure).toContain('within limits');
  expect(seller.requests.map(({ path }) => path)).not.toContain('/weather');

  const saved: unknown = JSON.parse(JSON.stringify(toRecording(report, observations)));
  const recording = parseRecording(saved, 'the recording');
  const { exhausted, scannedAt } = recording;
  const replayed = await gradeObservations(recording.observations, scannedAt, engine, {
    exhausted,
  });
  expect(JSON.stringify(replayed.report)).toBe(JSON.stringify(report));
});

test('a scan without a budget for documents rejects as overloaded, and reports no finding', async () => {
  const { pendingScan } = await startScan({ originMs: 0, lightMs: 500 });
  await expect(pendingScan).rejects.toBeInstanceOf(ScannerFailure);
  await expect(pendingScan).rejects.toThrow('overloaded');
});
