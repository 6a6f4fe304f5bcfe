import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { Watching, WatchingEvent } from '../watch/watching.ts';

const SECONDS = [0.1, 0.5, 1, 2.5, 5, 10, 15, 30];

export class WatchMetrics {
  readonly registry = new Registry();
  readonly #registers = [this.registry];
  readonly #deliveries = new Counter({
    name: 'watch_deliveries_total',
    help: 'Tries of deliveries to webhooks, by what they led to.',
    labelNames: ['result'],
    registers: this.#registers,
  });
  readonly #deliverySeconds = new Histogram({
    name: 'watch_delivery_seconds',
    help: 'Time that a try of a delivery took.',
    buckets: SECONDS,
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

  /** Connects the gauges; before it they have no value. */
  watch(watching: Pick<Watching, 'lateness'>): void {
    const gauge = (name: string, help: string, read: () => number) =>
      new Gauge({
        name,
        help,
        registers: this.#registers,
        collect() {
          this.set(read() / 1_000);
        },
      });
    gauge(
      'watch_deliveries_late_seconds',
      'How long the delivery that has waited longest is overdue.',
      () => watching.lateness().deliveriesMs,
    );
    gauge(
      'watch_looks_late_seconds',
      'How long the look that has waited longest is overdue.',
      () => watching.lateness().looksMs,
    );
  }
}
