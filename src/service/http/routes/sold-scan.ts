/**
 * Sells a scan over x402's MCP transport (specs/transports-v2/mcp.md). The challenge is a tool result, the payment is
 * in `_meta["x402/payment"]`, and its settlement is in `_meta["x402/payment-response"]`. The sale uses the gate and the
 * ledger of `POST /v1/scan`, so one authorization cannot buy a scan over MCP and another one over HTTP.
 */

import { PAYMENT_META, type ToolAnswer } from '../../../scanner/mcp/tools.ts';
import { nameExceededLimit } from '../../../scanner/parse/json/json.ts';
import type { PaymentGate } from '../../payment/gate/gate.ts';
import { PaymentRefused } from '../../payment/gate/refusals.ts';
import type { PaidCall, PaidRoute, PaidRouteAnswer } from '../../payment/paid-route.ts';

type SoldScanOptions = {
  readonly gate: PaymentGate;
  readonly route: PaidRoute;
  /** The caller's address block, by which turns are limited; null if the request came from a proxy's address. */
  readonly client: PaidCall['client'];
  /** Time of `performance.now()` at which the call fails, unless its payment is being settled. */
  readonly deadlineMs: number;
  readonly disconnect: AbortSignal;
  /** Registers a callback for the time when the whole answer has been written. */
  readonly onWritten: (callback: () => void) => void;
};

const SETTLEMENT_META = 'x402/payment-response';

/** Throws the errors of `PaymentGate`. */
export async function sellScan(
  url: string,
  payment: unknown,
  options: SoldScanOptions,
): Promise<ToolAnswer> {
  const { gate, route, client, deadlineMs, disconnect, onWritten } = options;
  const nestingFault = nameExceededLimit(payment);
  if (nestingFault !== null) {
    const refusal = new PaymentRefused(
      'invalid_payment',
      `_meta["${PAYMENT_META}"] is ${nestingFault}`,
    );
    return toToolAnswer(gate.toRefusal(route, refusal));
  }
  // Encoded like the HTTP header, because one parser reads the payments of both transports.
  const header = Buffer.from(JSON.stringify(payment) ?? '').toString('base64');
  const headers = payment === undefined ? {} : { 'payment-signature': [header] };
  const reading = await gate.readPayment(route, headers, false); // no HEAD request
  if (reading.kind === 'answer') return toToolAnswer(reading.answer);
  const answer = await gate.answerCall(route, {
    payment: reading.payment,
    request: { body: { url }, query: {} },
    client,
    deadlineMs,
    disconnect,
  });
  if (answer === 'disconnected') throw new Error('The caller has disconnected.');
  onWritten(() => answer.markWritten());
  return toToolAnswer(answer);
}

async function toToolAnswer({ status, headers, body }: PaidRouteAnswer): Promise<ToolAnswer> {
  const value: unknown = JSON.parse(await readText(body));
  if (typeof value !== 'object' || value === null)
    throw new Error('A paid answer is not an object.');
  const settlement = headers['payment-response'];
  const meta =
    settlement === undefined
      ? {}
      : { [SETTLEMENT_META]: JSON.parse(Buffer.from(settlement, 'base64').toString('utf8')) };
  return { value, isError: status !== 200, meta };
}

async function readText(body: PaidRouteAnswer['body']): Promise<string> {
  if (typeof body === 'string') return body;
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}
