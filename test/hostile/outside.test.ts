/** No connection is so much as attempted to where an origin leads, other than to itself. */
import { expect, it } from 'vitest';
import { FARM, startFarm } from './farm.ts';
import { startScanProcess } from './processes.ts';

const LEADING = FARM.filter(({ kind, name }) => kind === 'redirect' || name.includes('inside'));

it('the farm watches connections in every thread, and none goes outside', async () => {
  expect(LEADING.length).toBeGreaterThanOrEqual(12);
  await using farm = await startFarm(LEADING);
  await using scanner = await startScanProcess();
  const urls = [...farm.urls.values()];
  const asked = { ca: farm.ca, patient: farm.good, own: urls, toRest: true };
  const told = await scanner.play({ ...asked, urls });
  expect(told.scans.map(({ cells }) => cells.length)).toEqual(urls.map(() => 25));
  expect(told.outside).toEqual([]);

  const [url = ''] = farm.good;
  const port = new URL(url).port;
  const { outside } = await scanner.play({ ...asked, urls: [url] });
  expect(outside[0]).toBe(`127.0.0.1, port ${port}`);
});
