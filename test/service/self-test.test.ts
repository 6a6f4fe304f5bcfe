/** What breaks on everything is found after the start, before a scan is sold. */
import { expect, test } from 'vitest';
import { loadCatalog } from '../../src/engine/catalog/catalog.ts';
import { discoverChecks } from '../../src/engine/catalog/discover-checks.ts';
import { testChecks } from '../../src/service/self-test.ts';
import { fixtureChecks, named } from '../engine/fixtures/fixture-checks.ts';
import { NEWER } from '../scan/engine-under-test.ts';

const checks = await discoverChecks();
const catalog = await loadCatalog(NEWER, { checks });

async function told(tried: typeof checks): Promise<readonly string[]> {
  const said: string[] = [];
  await testChecks({
    catalog,
    checks: tried,
    onBroken: ({ message }) => said.push(message),
    onError: (message, error) => said.push(`${message}: ${error}`),
  });
  return said;
}

test('says nothing of the checks as they are', async () => {
  expect(await told(checks)).toEqual([]);
});

test('names the check that breaks on nothing at all', async () => {
  const { url } = named(await fixtureChecks(), 'throws');
  const said = await told(checks.map((check) => (check.id === 'P8' ? { ...check, url } : check)));
  expect(said.filter((one) => one.startsWith('P8 breaks even'))).toHaveLength(1);
});
