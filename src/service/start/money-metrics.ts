import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { Payments } from '../payment/payments.ts';
import type { PaymentEvent } from '../payment/settle/facilitator.ts';

/** The parts of `Payments` that the gauges read at each scrape. */
export type MoneySource = Pick<Payments, 'facilitator' | 'recovery' | 'unreadyReason'>;

const DURATION_BUCKETS_SEC = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];
const PAYMENT_STATES = ['claimed', 'computed', 'settling', 'unknown', 'settled'] as const;
const WEI_PER_ETHER = 1e18;

export class MoneyMetrics {
  readonly registry = new Registry();
  readonly #registers = [this.registry];
  readonly #verified = new Counter({
    name: 'payments_verified_total',
    help: 'Payments that the facilitator was asked about, by outcome.',
    labelNames: ['outcome'],
    registers: this.#registers,
  });
  readonly #sent = new Counter({
    name: 'payments_sent_total',
    help: 'Settlements sent, including repeated settlements, by outcome.',
    labelNames: ['outcome'],
    registers: this.#registers,
  });
  readonly #reconciled = new Counter({
    name: 'payments_reconciled_total',
    help: 'Payments whose settlement was in doubt and has been decided, by outcome.',
    labelNames: ['outcome'],
    registers: this.#registers,
  });
  readonly #overdue = new Counter({
    name: 'payments_overdue_total',
    help: 'Payments whose outcome should have been proved by now, and was not.',
    registers: this.#registers,
  });
  readonly #debts = new Counter({
    name: 'payments_debts_total',
    help: 'Finished work that its payer could have paid for, and did not.',
    registers: this.#registers,
  });
  readonly #facilitatorSeconds = new Histogram({
    name: 'payments_facilitator_seconds',
    help: 'Time that the facilitator took, by call and outcome.',
    labelNames: ['call', 'outcome'],
    buckets: DURATION_BUCKETS_SEC,
    registers: this.#registers,
  });
  readonly #nodeSeconds = new Histogram({
    name: 'payments_node_seconds',
    help: 'Time that the node behind RPC_URL took, by method and whether it failed.',
    labelNames: ['method', 'failed'],
    buckets: DURATION_BUCKETS_SEC,
    registers: this.#registers,
  });
  readonly #purged = new Gauge({
    name: 'store_purged_timestamp_seconds',
    help: 'Time of the last purge of the store, in seconds since the epoch; 0 before the first purge.',
    registers: this.#registers,
  });

  constructor() {
    for (const outcome of ['settled', 'failed', 'unproved']) this.#reconciled.inc({ outcome }, 0);
  }

  observe(event: PaymentEvent): void {
    switch (event.kind) {
      case 'verified':
        this.#verified.inc({ outcome: event.outcome });
        this.#observeCall('verify', event.outcome, event.ms);
        return;
      case 'sent':
        this.#sent.inc({ outcome: event.outcome });
        this.#observeCall('settle', event.outcome, event.ms);
        return;
      case 'node_call': {
        const { method, isError, ms } = event;
        this.#nodeSeconds.observe({ method, failed: String(isError) }, ms / 1_000);
        return;
      }
      case 'reconciled':
        this.#reconciled.inc({ outcome: event.outcome });
        return;
      case 'debt':
        this.#debts.inc();
        return;
      case 'overdue':
        this.#overdue.inc();
    }
  }

  setPurged(atMs: number): void {
    this.#purged.set(Math.floor(atMs / 1_000));
  }

  /** Connects the gauges to `source`. Before this call, the gauges have no value. */
  watch(source: MoneySource, now: () => number): void {
    const addGauge = (name: string, help: string, read: () => number | null) =>
      addReadGauge(this.registry, name, help, read);
    const account = () => source.facilitator.account?.() ?? null;
    this.#addKeysGauge(source);
    addGauge('payments_ready', '1 while payments are taken, else 0.', () =>
      source.unreadyReason() === null ? 1 : 0,
    );
    addGauge(
      'payments_oldest_doubt_seconds',
      'Age of the payment that has been in doubt for longest; 0 if there is none.',
      () => {
        const { oldestInDoubtMs } = source.recovery.counts;
        return oldestInDoubtMs === null ? 0 : Math.max(0, (now() - oldestInDoubtMs) / 1_000);
      },
    );
    if (source.facilitator.kind !== 'local') return;
    addGauge('payments_gas_balance_ether', 'Balance of SETTLEMENT_KEY for gas.', () => {
      const balance = account()?.balance ?? null;
      return balance === null ? null : Number(balance) / WEI_PER_ETHER;
    });
    addGauge(
      'payments_transactions_unconfirmed',
      'Transactions that SETTLEMENT_KEY has sent and that are not mined.',
      () => account()?.unconfirmedCount ?? null,
    );
    addGauge(
      'payments_oldest_transaction_seconds',
      'Age of the oldest unconfirmed transaction.',
      () => {
        const oldestMs = account()?.oldestUnconfirmedMs ?? null;
        return oldestMs === null ? null : oldestMs / 1_000;
      },
    );
    addGauge(
      'payments_nonce_gap',
      'Nonces of SETTLEMENT_KEY that the node holds as pending and that this process did not send.',
      () => account()?.nonceGap ?? null,
    );
  }

  #addKeysGauge({ recovery }: MoneySource): void {
    new Gauge({
      name: 'payments_keys',
      help: 'Payments that are not finished, by state.',
      labelNames: ['state'],
      registers: this.#registers,
      collect() {
        const { byState } = recovery.counts;
        for (const state of PAYMENT_STATES) this.set({ state }, byState[state] ?? 0);
      },
    });
  }

  #observeCall(call: string, outcome: string, ms: number): void {
    this.#facilitatorSeconds.observe({ call, outcome }, ms / 1_000);
  }
}

/** Adds a gauge that reads its value at each scrape. While `read` returns null, the gauge keeps its value. */
export function addReadGauge(
  registry: Registry,
  name: string,
  help: string,
  read: () => number | null,
): void {
  new Gauge({
    name,
    help,
    registers: [registry],
    collect() {
      const value = read();
      if (value !== null) this.set(value);
    },
  });
}

/** Logs, at level error, an event that needs an operator. docs/payments.md says what to do. */
export type Alarm = (message: string, facts: Readonly<Record<string, string>>) => void;

/** Messages of the outcomes that need an operator; null for the others. */
const ALARM_MESSAGES = {
  settled: null,
  overdue: 'a payment is overdue: nobody has proved what became of it',
  failed: 'a payment failed: it was sent, and did not pay us',
  unproved: 'a payment was given up in favour of its payer, without proof',
} as const;

export function raiseAlarm(event: PaymentEvent, alarm: Alarm): void {
  if (event.kind !== 'overdue' && event.kind !== 'reconciled') return;
  const { key, reason } = event;
  const message = ALARM_MESSAGES[event.kind === 'overdue' ? 'overdue' : event.outcome];
  if (message !== null) alarm(message, { key, reason });
}

const READINESS_INTERVAL_MS = 5_000;

/** Logs, with the reason, when payments are no longer taken, and when they are again. Returns a `stop` function. */
export function watchReadiness(
  unreadyReason: () => string | null,
  log: { readonly unready: Alarm; readonly ready: (message: string) => void },
  intervalMs = READINESS_INTERVAL_MS,
): () => void {
  let loggedReason: string | null = null;
  const timer = setInterval(() => {
    const reason = unreadyReason();
    if (reason !== null && loggedReason === null) log.unready('payments are not taken', { reason });
    if (reason === null && loggedReason !== null) log.ready('payments are taken again');
    loggedReason = reason;
  }, intervalMs);
  timer.unref();
  return () => clearInterval(timer);
}
