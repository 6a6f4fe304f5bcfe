/**
 * The parts of prom-client that count. Its index also brings a gateway, a cluster and the whole of
 * OpenTelemetry: ninety modules, which a start would wait for.
 */
import { createRequire } from 'node:module';
import { setTimeout as pause } from 'node:timers/promises';
import type * as PromClient from 'prom-client';

const load = createRequire(import.meta.url);
/** Two samples of the event loop's delay: without one, its least is reported as 292 years. */
const FIRST_SAMPLES_MS = 25;

export type Registry = PromClient.Registry;
export const Registry: typeof PromClient.Registry = load('prom-client/lib/registry.js');

export type Counter<Label extends string = string> = PromClient.Counter<Label>;
export const Counter: typeof PromClient.Counter = load('prom-client/lib/counter.js');

export type Gauge<Label extends string = string> = PromClient.Gauge<Label>;
export const Gauge: typeof PromClient.Gauge = load('prom-client/lib/gauge.js');

export type Histogram<Label extends string = string> = PromClient.Histogram<Label>;
export const Histogram: typeof PromClient.Histogram = load('prom-client/lib/histogram.js');

/**
 * Measures the process from now on: memory, processor time, collections of garbage. Resolves once
 * there is something to report.
 */
export async function measureProcess(registry: Registry): Promise<void> {
  const collect: typeof PromClient.collectDefaultMetrics = load(
    'prom-client/lib/defaultMetrics.js',
  );
  collect({ register: registry });
  const { user, system } = process.cpuUsage();
  // What was used before counts, too: these are totals of the process.
  count(registry, 'process_cpu_user_seconds_total', user);
  count(registry, 'process_cpu_system_seconds_total', system);
  count(registry, 'process_cpu_seconds_total', user + system);
  await pause(FIRST_SAMPLES_MS);
}

function count(registry: Registry, name: string, microseconds: number): void {
  const counter = registry.getSingleMetric(name);
  if (counter instanceof Counter) counter.inc(microseconds / 1e6);
}
