import { Counter, Histogram, Registry } from 'prom-client';
import type { Config } from '../config/config.ts';
import { toWatchTiming } from '../watch/state.ts';
import { Watching, type WatchingEvent, type WatchingOptions } from '../watch/watching.ts';
import { addReadGauge } from './money-metrics.ts';

const DURATION_BUCKETS_SEC = [0.1, 0.5, 1, 2.5, 5, 10, 15, 30];

export class WatchMetrics {
  readonly registry = new Registry();
  readonly #registers = [this.registry];
  readonly #deliveries = new Counter({
    name: 'watch_deliveries_total',
    help: 'Attempts to deliver events to webhooks, by result.',
    labelNames: ['result'],
    registers: this.#registers,
  });
  readonly #deliverySeconds = new Histogram({
    name: 'watch_delivery_seconds',
    help: 'Time that an attempt to deliver an event took.',
    buckets: DURATION_BUCKETS_SEC,
    registers: this.#registers,
  });
  readonly #looks = new Counter({
    name: 'watch_looks_total',
    help: 'Looks at watched origins, by kind.',
    labelNames: ['kind'],
    registers: this.#registers,
  });

  constructor() {
    for (const result of ['delivered', 'retried', 'failed', 'ended']) {
      this.#deliveries.inc({ result }, 0);
    }
  }

  observe(event: WatchingEvent): void {
    if (event.kind === 'look') {
      this.#looks.inc({ kind: event.look });
      return;
    }
    this.#deliveries.inc({ result: event.result });
    this.#deliverySeconds.observe(event.ms / 1_000);
  }

  /** Adds the gauges, which read `watching` at each scrape. */
  watch(watching: Pick<Watching, 'lateness'>): void {
    addReadGauge(
      this.registry,
      'watch_deliveries_late_seconds',
      'Time by which the most overdue delivery is late.',
      () => watching.lateness.deliveriesMs / 1_000,
    );
    addReadGauge(
      this.registry,
      'watch_looks_late_seconds',
      'Time by which the most overdue look is late.',
      () => watching.lateness.looksMs / 1_000,
    );
  }
}

type WatchingParts = Omit<WatchingOptions, 'siteUrl' | 'policy' | 'timing'>;

/** Begins no look and no delivery before `start`. */
export function openWatching(config: Config, parts: WatchingParts) {
  const metrics = new WatchMetrics();
  const watching = new Watching({
    ...parts,
    siteUrl: config.siteUrl,
    policy: config.originPolicy,
    timing: toWatchTiming(config.timeScale),
    onEvent(event) {
      metrics.observe(event);
      parts.onEvent?.(event);
    },
  });
  metrics.watch(watching);
  return { watching, metrics };
}
