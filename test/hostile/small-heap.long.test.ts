/** A scanner with a heap of 1 GiB survives several huge answers at once. */
import { expect, test } from 'vitest';
import { FARM, startFarm } from './farm.ts';
import { startScanProcess } from './processes.ts';

const HUGE_ANSWERS = FARM.filter(({ name }) => /2 MiB|five million|once|thousandth/.test(name));

test('a scanner with a small heap scans origins with huge answers, chunked or compressed, without a failure', async () => {
  expect(HUGE_ANSWERS.length).toBeGreaterThanOrEqual(8);
  await using farm = await startFarm(HUGE_ANSWERS);
  await using scanner = await startScanProcess(['--max-old-space-size=1024']);
  const urls = [...farm.urls.values()];
  const result = await scanner.play({ urls, ca: farm.ca, patient: [], own: urls, toRest: true });
  expect(result.scans.map(({ failure }) => failure)).toEqual(urls.map(() => null));
  for (const { cells } of result.scans) expect(cells).toHaveLength(25);
  expect(result.unhandled).toEqual([]);
  expect(result.outside).toEqual([]);
});
