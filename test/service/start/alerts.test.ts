/** Alert rules use only registered metrics, and the documents name every registered metric. */
import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { loadConfig } from '../../../src/service/config/config.ts';
import { MoneyMetrics, type MoneySource } from '../../../src/service/start/money-metrics.ts';
import { openCensus } from '../../../src/service/start/open-census.ts';
import type { OpenScans } from '../../../src/service/start/open-scans.ts';
import { WatchMetrics } from '../../../src/service/start/open-watching.ts';
import { startApp } from '../../fixtures/service/start-app.ts';

const PAYMENT_METRIC = /\b(?:payments|store)_[a-z_]+\b/g;
const WATCH_METRIC = /\bwatch_[a-z_]+\b/g;
const CENSUS_METRIC = /\bcensus_[a-z_]+\b/g;
const HISTOGRAM_SUFFIX = /_(?:bucket|count|sum)$/;

async function findMetricNames(path: string, pattern: RegExp): Promise<readonly string[]> {
  const text = await readFile(new URL(`../../../${path}`, import.meta.url), 'utf8');
  const names = [...text.matchAll(pattern)].map(([name]) => name.replace(HISTOGRAM_SUFFIX, ''));
  return [...new Set(names)].toSorted();
}

function listRegisteredMetrics(): readonly string[] {
  const metrics = new MoneyMetrics();
  const source = {
    facilitator: { kind: 'local', account: () => null },
    recovery: { census: { byState: {}, oldestInDoubtMs: null } },
    trouble: () => null,
  } as unknown as MoneySource; // the metrics read no other member
  metrics.watch(source, Date.now);
  const names = metrics.registry.getMetricsAsArray().map(({ name }) => name);
  return [...new Set([...names, 'payments_redelivered_total'])].toSorted();
}

test('docs/payments.md names exactly the registered metrics', async () => {
  expect(await findMetricNames('docs/payments.md', PAYMENT_METRIC)).toEqual(
    listRegisteredMetrics(),
  );
});

test('deploy/alerts.yml uses only metrics that exist', async () => {
  const registered = listRegisteredMetrics();
  const names = await findMetricNames('deploy/alerts.yml', PAYMENT_METRIC);
  expect(names.filter((name) => !registered.includes(name))).toEqual([]);
});

test('a running service shows the metrics at /metrics', async () => {
  await using service = await startApp();
  const { body } = await service.get('/metrics');
  for (const name of listRegisteredMetrics()) {
    // Only local payments have a settlement account.
    if (/gas|transaction|nonce/.test(name)) continue;
    expect(body).toContain(`# TYPE ${name} `);
  }
});

test('docs/scaling.md names exactly the metrics of watches, and deploy/alerts.yml uses no others', async () => {
  const metrics = new WatchMetrics();
  metrics.watch({ lateness: { looksMs: 2_000, deliveriesMs: 0 } });
  metrics.observe({ kind: 'delivery', result: 'delivered', ms: 5 });
  metrics.observe({ kind: 'look', look: 'scan', lateMs: 5 });
  const registered = metrics.registry.getMetricsAsArray().map(({ name }) => name);
  expect(
    (await findMetricNames('deploy/alerts.yml', WATCH_METRIC)).filter(
      (name) => !registered.includes(name),
    ),
  ).toEqual([]);
  expect(await findMetricNames('docs/scaling.md', WATCH_METRIC)).toEqual(registered.toSorted());
  const text = await metrics.registry.metrics();
  expect(text).toContain('watch_deliveries_total{result="delivered"} 1');
  expect(text).toContain('watch_looks_late_seconds 2');
});

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
  expect(await findMetricNames('docs/census.md', CENSUS_METRIC)).toEqual(registered.toSorted());
  const alertMetrics = await findMetricNames('deploy/alerts.yml', CENSUS_METRIC);
  expect(alertMetrics).toContain('census_import_failed_days');
  expect(alertMetrics.filter((name) => !registered.includes(name))).toEqual([]);
  const text = await registry.metrics();
  expect(text).toContain('census_looks_total{word="payable"} 0');
  expect(text).toContain('census_origins 0');
});
