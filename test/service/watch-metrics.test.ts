import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { WatchMetrics } from '../../src/service/open-watching.ts';

const METRIC_NAME = /\bwatch_[a-z_]+\b/g;
const HISTOGRAM_SUFFIX = /_(?:bucket|count|sum)$/;

async function findMetricNames(path: string): Promise<readonly string[]> {
  const text = await readFile(new URL(`../../${path}`, import.meta.url), 'utf8');
  const names = [...text.matchAll(METRIC_NAME)].map(([name]) => name.replace(HISTOGRAM_SUFFIX, ''));
  return [...new Set(names)].toSorted();
}

test('docs/scaling.md names exactly the metrics of watches, and deploy/alerts.yml uses no others', async () => {
  const metrics = new WatchMetrics();
  metrics.watch({ lateness: { looksMs: 2_000, deliveriesMs: 0 } });
  metrics.observe({ kind: 'delivery', result: 'delivered', ms: 5 });
  metrics.observe({ kind: 'look', look: 'scan', lateMs: 5 });
  const registered = metrics.registry.getMetricsAsArray().map(({ name }) => name);
  expect(
    (await findMetricNames('deploy/alerts.yml')).filter((name) => !registered.includes(name)),
  ).toEqual([]);
  expect(await findMetricNames('docs/scaling.md')).toEqual(registered.toSorted());
  const text = await metrics.registry.metrics();
  expect(text).toContain('watch_deliveries_total{result="delivered"} 1');
  expect(text).toContain('watch_looks_late_seconds 2');
});
