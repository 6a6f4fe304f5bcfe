/** Runs viem over bounded requests: one deadline for all calls, a cap for each method, one retry when busy. */
import { createPublicClient, custom, type PublicClient } from 'viem';
import { answerCapOf, NODE_ANSWER } from '../answers/node-answers.ts';
import { answerOverCap, resultOf } from '../answers/node-error.ts';
import { ask, type RequestContext } from './ask.ts';
import type { LookupTurn } from './lookup-rate.ts';

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
  type Call = { readonly method: string; readonly params?: unknown };

  async function request({ method, params = [] }: Call): Promise<unknown> {
    await turn?.(context.deadline.signal).catch(() => {
      throw new ChainUnreachable(
        `${new URL(rpcUrl).host} was not asked in time: other lookups came first`,
        0,
      );
    });
    const capBytes = answerCapOf(method);
    const reply = await ask(rpcUrl, {
      ...context,
      capBytes,
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
      reading: NODE_ANSWER,
      detail: { method, contract: null },
    });
    if (reply.ok) return resultOf(method, reply.value.status, reply.value.value);
    if (!reply.isTooLong) throw new ChainUnreachable(reply.detail, reply.quietMs);
    return resultOf(method, 200, answerOverCap(method));
  }
  return createPublicClient({
    // A contract could name any URL for viem to fetch (ERC-3668).
    ccipRead: false,
    // `ask` retries. viem would wait for a long Retry-After beyond the deadline.
    transport: custom({ request }, { retryCount: 0 }),
  });
}
