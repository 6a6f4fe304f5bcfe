/** The rules and the page for operators name the metrics that there are, all of them and no other. */
import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { MoneyMetrics, type MoneySource } from '../../src/service/money-metrics.ts';
import { startApp } from '../fixtures/service/start-app.ts';

const METRIC = /\b(?:payments|store)_[a-z_]+\b/g;
const SUFFIX = /_(?:bucket|count|sum)$/;

async function named(path: string): Promise<Set<string>> {
  const text = await readFile(new URL(`../../${path}`, import.meta.url), 'utf8');
  return new Set([...text.matchAll(METRIC)].map(([name]) => name.replace(SUFFIX, '')));
}

async function registered(): Promise<Set<string>> {
  const metrics = new MoneyMetrics();
  const source = {
    facilitator: { kind: 'local', account: () => null },
    recovery: { census: { byState: {}, oldestInDoubtMs: null } },
    trouble: () => null,
  } as unknown as MoneySource; // nothing else of it is read
  metrics.watch(source, Date.now);
  const names = metrics.registry.getMetricsAsArray().map(({ name }) => name);
  return new Set([...names, 'payments_redelivered_total']);
}

test('docs/payments.md explains each metric of an alert', async () => {
  expect([...(await named('docs/payments.md'))].sort()).toEqual([...(await registered())].sort());
});

test('deploy/alerts.yml uses only metrics that exist', async () => {
  const known = await registered();
  expect([...(await named('deploy/alerts.yml'))].filter((name) => !known.has(name))).toEqual([]);
});

test('a running service has the metrics at /metrics', async () => {
  await using service = await startApp();
  const { body } = await service.get('/metrics');
  for (const name of await registered()) {
    // The account is there in local mode alone.
    if (/gas|transaction|nonce/.test(name)) continue;
    expect(body).toContain(`# TYPE ${name} `);
  }
});
