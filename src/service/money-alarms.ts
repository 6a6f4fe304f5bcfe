/** Log lines about money that need an operator; docs/payments.md says what to do. */
import type { PaymentEvent } from '../payment/settle/facilitator.ts';

/** Logs at level error. */
export type Alarm = (message: string, facts: Readonly<Record<string, string>>) => void;

const LOOK_INTERVAL_MS = 5_000;

export function raiseAlarm(event: PaymentEvent, alarm: Alarm): void {
  if (event.kind === 'overdue') {
    const { key, reason } = event;
    alarm('a payment is overdue: nobody has proved what became of it', { key, reason });
  }
  if (event.kind !== 'reconciled' || event.outcome === 'settled') return;
  const { key, reason } = event;
  if (event.outcome === 'failed')
    alarm('a payment failed: it was sent, and did not pay us', { key, reason });
  else alarm('a payment was given up in favour of its payer, without proof', { key, reason });
}

/** Logs when payments stop and start being taken, with the reason. Returns a function that ends the watch. */
export function watchReadiness(
  trouble: () => string | null,
  tell: { readonly closed: Alarm; readonly opened: (message: string) => void },
  intervalMs = LOOK_INTERVAL_MS,
): () => void {
  let told: string | null = null;
  const timer = setInterval(() => {
    const now = trouble();
    if (now !== null && told === null) tell.closed('payments are not taken', { reason: now });
    if (now === null && told !== null) tell.opened('payments are taken again');
    told = now;
  }, intervalMs);
  timer.unref();
  return () => clearInterval(timer);
}
