/** Runs viem over bounded requests: one deadline for all calls, a size limit, one retry when busy. */
import { createPublicClient, http, type PublicClient } from 'viem';
import { ask, type RequestContext } from './ask.ts';
import type { LookupTurn } from './lookup-rate.ts';

const CAP_BYTES = 8 * 1024 * 1024;

/** The chain gave no answer; the message is one line for evidence. */
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
  // `ask` retries. viem would wait for a long Retry-After beyond the deadline.
  const transport = http(rpcUrl, { fetchFn, retryCount: 0, timeout: context.deadline.timeoutMs });
  return createPublicClient({ transport });
}
