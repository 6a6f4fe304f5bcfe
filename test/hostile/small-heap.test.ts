/** A process of a 1 GiB heap lives through bombs, several at once. */
import { expect, it } from 'vitest';
import { FARM, startFarm } from './farm.ts';
import { startScanProcess } from './processes.ts';

const BOMBS = FARM.filter(({ name }) => /2 MiB|five million|once|thousandth/.test(name));

it('a small heap scans large answers, in pieces or packed, and goes on', async () => {
  expect(BOMBS.length).toBeGreaterThanOrEqual(8);
  await using farm = await startFarm(BOMBS);
  await using scanner = await startScanProcess(['--max-old-space-size=1024']);
  const urls = [...farm.urls.values()];
  const told = await scanner.play({ urls, ca: farm.ca, patient: [], own: urls, toRest: true });
  expect(told.scans.map(({ failure }) => failure)).toEqual(urls.map(() => null));
  for (const { cells } of told.scans) expect(cells).toHaveLength(25);
  expect(told.unhandled).toEqual([]);
  expect(told.outside).toEqual([]);
});
