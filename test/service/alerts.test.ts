/** Alert rules use only registered metrics, and docs/payments.md names every registered metric. */
import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { MoneyMetrics, type MoneySource } from '../../src/service/money-metrics.ts';
import { startApp } from '../fixtures/service/start-app.ts';

const METRIC_NAME = /\b(?:payments|store)_[a-z_]+\b/g;
const HISTOGRAM_SUFFIX = /_(?:bucket|count|sum)$/;

async function findMetricNames(path: string): Promise<Set<string>> {
  const text = await readFile(new URL(`../../${path}`, import.meta.url), 'utf8');
  return new Set(
    [...text.matchAll(METRIC_NAME)].map(([name]) => name.replace(HISTOGRAM_SUFFIX, '')),
  );
}

async function listRegisteredMetrics(): Promise<Set<string>> {
  const metrics = new MoneyMetrics();
  const source = {
    facilitator: { kind: 'local', account: () => null },
    recovery: { census: { byState: {}, oldestInDoubtMs: null } },
    trouble: () => null,
  } as unknown as MoneySource; // the metrics read no other member
  metrics.watch(source, Date.now);
  const names = metrics.registry.getMetricsAsArray().map(({ name }) => name);
  return new Set([...names, 'payments_redelivered_total']);
}

test('docs/payments.md names exactly the registered metrics', async () => {
  expect([...(await findMetricNames('docs/payments.md'))].sort()).toEqual(
    [...(await listRegisteredMetrics())].sort(),
  );
});

test('deploy/alerts.yml uses only metrics that exist', async () => {
  const registered = await listRegisteredMetrics();
  expect(
    [...(await findMetricNames('deploy/alerts.yml'))].filter((name) => !registered.has(name)),
  ).toEqual([]);
});

test('a running service shows the metrics at /metrics', async () => {
  await using service = await startApp();
  const { body } = await service.get('/metrics');
  for (const name of await listRegisteredMetrics()) {
    // Only local payments have a settlement account.
    if (/gas|transaction|nonce/.test(name)) continue;
    expect(body).toContain(`# TYPE ${name} `);
  }
});
