/** The scanner opens no connection to other addresses that a scanned origin names. */
import { expect, test } from 'vitest';
import { FARM, startFarm } from './farm.ts';
import { startScanProcess } from './processes.ts';

const ORIGINS = FARM.filter(({ kind, name }) => kind === 'redirect' || name.includes('inside'));

test('a scan of origins that name other addresses connects to none of them, in any thread', async () => {
  expect(ORIGINS.length).toBeGreaterThanOrEqual(12);
  await using farm = await startFarm(ORIGINS);
  await using scanner = await startScanProcess();
  const urls = [...farm.urls.values()];
  const scanOptions = { ca: farm.ca, patient: farm.good, own: urls, toRest: true };
  const result = await scanner.play({ ...scanOptions, urls });
  expect(result.scans.map(({ cells }) => cells.length)).toEqual(urls.map(() => 25));
  expect(result.outside).toEqual([]);

  const [url = ''] = farm.good;
  const port = new URL(url).port;
  const { outside } = await scanner.play({ ...scanOptions, urls: [url] });
  expect(outside[0]).toBe(`127.0.0.1, port ${port}`);
});
