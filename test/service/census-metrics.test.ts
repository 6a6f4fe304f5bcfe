/** Alert rules use only registered metrics of the census, and docs/census.md names all of them. */
import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { loadConfig } from '../../src/config/config.ts';
import { openCensus } from '../../src/service/open-census.ts';
import type { OpenScans } from '../../src/service/open-scans.ts';

const METRIC_NAME = /\bcensus_[a-z_]+\b/g;

async function findMetricNames(path: string): Promise<readonly string[]> {
  const text = await readFile(new URL(`../../${path}`, import.meta.url), 'utf8');
  return [...new Set([...text.matchAll(METRIC_NAME)].map(([name]) => name))].toSorted();
}

test('docs/census.md names exactly the metrics of the census, and deploy/alerts.yml uses no others', async () => {
  const config = loadConfig({
    CENSUS: 'bazaar,x402scan',
    CONTACT_EMAIL: 'census@scanner.example',
    SCAN_ALLOW_HOSTS: '127.0.0.1:9',
  });
  if (config.census === null) throw new Error('the settings turn the census on');
  // A census that has not started reads no other member of these parts.
  const parts = { store: {}, scanCoordinator: {}, scanning: { openCensusScanner: () => ({}) } };
  const { registry } = openCensus(config, config.census, parts as unknown as OpenScans);
  const registered = registry.getMetricsAsArray().map(({ name }) => name);
  expect(await findMetricNames('docs/census.md')).toEqual(registered.toSorted());
  const alertMetrics = await findMetricNames('deploy/alerts.yml');
  expect(alertMetrics).toContain('census_import_failed_days');
  expect(alertMetrics.filter((name) => !registered.includes(name))).toEqual([]);
  const text = await registry.metrics();
  expect(text).toContain('census_looks_total{word="payable"} 0');
  expect(text).toContain('census_origins 0');
});
