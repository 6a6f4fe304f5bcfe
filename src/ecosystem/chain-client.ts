/** viem over our own bounded requests: one limit of time for all calls, size, one retry where busy. */
import { createPublicClient, http, type PublicClient } from 'viem';
import { ask, type RequestContext } from './ask.ts';
import type { LookupTurn } from './lookup-rate.ts';

const CAP_BYTES = 8 * 1024 * 1024;

/** The chain could not be asked; the message is the line for evidence. */
export class ChainUnreachable extends Error {
  override readonly name = 'ChainUnreachable';
  readonly quietMs: number;

  constructor(detail: string, quietMs: number) {
    super(detail);
    this.quietMs = quietMs;
  }
}

export function createChainClient(
  rpcUrl: string,
  context: RequestContext,
  turn?: LookupTurn,
): PublicClient {
  async function fetchFn(_input: unknown, init?: RequestInit): Promise<Response> {
    await turn?.(context.deadline.signal).catch(() => {
      throw new ChainUnreachable(`${new URL(rpcUrl).host} was left to the settling of payments`, 0);
    });
    const reply = await ask(rpcUrl, { ...context, capBytes: CAP_BYTES, body: String(init?.body) });
    if (!reply.ok) throw new ChainUnreachable(reply.detail, reply.quietMs);
    const { status, text } = reply.value;
    return new Response(text, { status, headers: { 'content-type': 'application/json' } });
  }
  // Retries are `ask`'s: viem would wait for a long Retry-After beyond any limit of ours.
  const transport = http(rpcUrl, { fetchFn, retryCount: 0, timeout: context.deadline.timeoutMs });
  return createPublicClient({ transport });
}
