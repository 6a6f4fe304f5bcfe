/** Buys a scan over MCP: what the tool answers, as the route would have said it. */
import type { Call, Payment } from './call.ts';

type Result = {
  readonly isError?: boolean;
  readonly content: readonly { readonly text: string }[];
  readonly _meta?: { readonly 'x402/payment-response'?: { readonly transaction: string } };
};

/** Rejects if the connection broke before the answer was whole. */
export async function askTool(
  url: string,
  payment: Payment,
  host: string,
  signal?: AbortSignal,
): Promise<Call> {
  const signed: unknown = JSON.parse(Buffer.from(payment.signed.header, 'base64').toString());
  const params = {
    name: 'scan_origin',
    arguments: { url: host },
    _meta: { 'x402/payment': signed },
  };
  const response = await fetch(`${url}/mcp`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2025-11-25',
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
    ...(signal ? { signal } : {}),
  });
  const { result } = (await response.json()) as { readonly result: Result };
  const body = result.content[0]?.text ?? '';
  const answer = JSON.parse(body);
  const transaction = result._meta?.['x402/payment-response']?.transaction ?? null;
  const isAnswer = result.isError !== true;
  return {
    payment,
    status: isAnswer ? 200 : statusOf(answer),
    body,
    error: isAnswer ? null : String(answer.error),
    // A result does not say whether it was paid before: the transfer that it names does.
    isRedelivered: true,
    transaction: isAnswer ? transaction : null,
  };
}

function statusOf({ error, accepts }: { readonly error: string; readonly accepts?: unknown }) {
  if (accepts !== undefined) return 402;
  return error === 'payment_conflict' ? 409 : 503;
}
