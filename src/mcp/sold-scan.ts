/**
 * A scan sold over x402's MCP transport (specs/transports-v2/mcp.md): the challenge is a tool result,
 * the payment stands in `_meta["x402/payment"]`, its settlement in `_meta["x402/payment-response"]`.
 * Gate and ledger are those of the route, so one authorization buys over one of the two.
 */
import { refuseNesting } from '../parse/json/refuse-json.ts';
import { PaymentRefused } from '../payment/gate/answers.ts';
import type { PaymentGate } from '../payment/gate/gate.ts';
import type { PaidAnswer, PaidRoute } from '../payment/paid-route.ts';
import { PAYMENT_META, type ToolAnswer } from './tools.ts';

export type SoldScanOptions = {
  readonly gate: PaymentGate;
  readonly route: PaidRoute;
  /** The caller's address, for fair queueing; null if it is a proxy's. */
  readonly client: string | null;
  /** Deadline by `performance.now()`; the call then fails, unless it is being settled. */
  readonly deadlineMs: number;
  readonly disconnect: AbortSignal;
  /** Registers a callback for the moment at which the whole answer was written. */
  readonly onWritten: (written: () => void) => void;
};

const RESPONSE_META = 'x402/payment-response';

/** Throws the gate's errors. `disconnect` aborts when the caller disconnects. */
export async function soldScan(
  url: string,
  payment: unknown,
  options: SoldScanOptions,
): Promise<ToolAnswer> {
  const { gate, route, client, deadlineMs, disconnect, onWritten } = options;
  const excess = refuseNesting(payment);
  if (excess !== null) {
    const refused = new PaymentRefused('invalid_payment', `_meta["${PAYMENT_META}"] is ${excess}`);
    return toToolAnswer(gate.refuse(route, refused));
  }
  const lines = payment === undefined ? {} : { 'payment-signature': [encode(payment)] };
  const preview = await gate.preview(route, lines, false);
  if (preview.kind === 'answer') return toToolAnswer(preview.answer);
  const answer = await gate.handle(route, {
    payment: preview.payment,
    request: { body: { url }, query: {} },
    client,
    deadlineMs,
    disconnect,
  });
  if (answer === 'disconnected') throw new Error('The caller has disconnected.');
  onWritten(() => answer.markWritten());
  return toToolAnswer(answer);
}

async function toToolAnswer({ status, headers, body }: PaidAnswer): Promise<ToolAnswer> {
  const value: unknown = JSON.parse(await textOf(body));
  if (typeof value !== 'object' || value === null)
    throw new Error('A paid answer is not an object.');
  const settlement = headers['payment-response'];
  const meta =
    settlement === undefined
      ? {}
      : { [RESPONSE_META]: JSON.parse(Buffer.from(settlement, 'base64').toString('utf8')) };
  return { value, isError: status !== 200, meta };
}

async function textOf(body: PaidAnswer['body']): Promise<string> {
  if (typeof body === 'string') return body;
  const parts: Uint8Array[] = [];
  for await (const part of body) parts.push(part);
  return Buffer.concat(parts).toString('utf8');
}

/** Encodes a payment as its HTTP header, so that one parser reads both transports. */
function encode(payment: unknown): string {
  return Buffer.from(JSON.stringify(payment) ?? '').toString('base64');
}
