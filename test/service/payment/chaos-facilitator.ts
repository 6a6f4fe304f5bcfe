import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import type { x402Facilitator } from '@x402/core/facilitator';
import type { PaymentPayload, PaymentRequirements, SettleResponse } from '@x402/core/types';
import { listenLocally } from '../../fixtures/service/local-server.ts';

/** Conduct of a facilitator. Real facilitators have done each of these. */
export type SettleConduct =
  | 'honest'
  /** Settles, and answers nothing. */
  | 'settles-and-hangs'
  /** Honest, and tells of every refusal that the purse is empty: it looks there before the nonce. */
  | 'looks-at-the-purse-first'
  /** Settles at once, and takes its time to say so. */
  | 'settles-and-is-slow'
  | 'settles-and-says-500'
  | 'settles-and-drops'
  /** Settles, and says that the transaction failed. */
  | 'settles-and-denies'
  | 'settles-and-talks-rubbish'
  | 'drops'
  | 'says-500'
  | 'says-503-insufficient-funds'
  | 'claims-success-without-transaction'
  | 'claims-success-by-a-made-up-transaction'
  | 'claims-success-for-another'
  | 'claims-success-elsewhere';

export type ChaosFacilitator = AsyncDisposable & {
  readonly url: string;
  /** Conducts of the next settlements, one each. All later ones are honest. */
  plan: SettleConduct[];
  /** Number of requests to settle. */
  readonly settleRequests: number;
};

const SLOW_MS = 1_500;

/** The official facilitator on a real chain, behind HTTP that cannot be trusted. */
export async function startChaosFacilitator(honest: x402Facilitator): Promise<ChaosFacilitator> {
  const state = { plan: [] as SettleConduct[], settleRequests: 0 };
  const hanging = new Set<ServerResponse>();

  const server = createServer(async (request, response) => {
    if (request.url === '/supported') return answer(response, 200, honest.getSupported());
    const { paymentPayload, paymentRequirements } = await readJson(request);
    if (request.url === '/verify') {
      return answer(response, 200, await honest.verify(paymentPayload, paymentRequirements));
    }
    state.settleRequests += 1;
    const conduct = state.plan.shift() ?? 'honest';
    const settle = () => honest.settle(paymentPayload, paymentRequirements);
    await misbehave(conduct, response, settle, paymentRequirements.network, hanging);
  });
  const local = await listenLocally(server);
  return {
    url: local.url,
    get plan() {
      return state.plan;
    },
    set plan(plan) {
      state.plan = plan;
    },
    get settleRequests() {
      return state.settleRequests;
    },
    async [Symbol.asyncDispose]() {
      for (const response of hanging) response.destroy();
      await local[Symbol.asyncDispose]();
    },
  };
}

async function misbehave(
  conduct: SettleConduct,
  response: ServerResponse,
  settle: () => Promise<SettleResponse>,
  network: PaymentRequirements['network'],
  hanging: Set<ServerResponse>,
): Promise<void> {
  const lie = { success: true, transaction: `0x${'ee'.repeat(32)}`, network };
  const settled = conduct.startsWith('settles') ? await settle() : null;
  // If the chain refuses, every conduct answers honestly: no payment was made that it could hide.
  if (settled?.success === false) return answer(response, 200, settled);
  switch (conduct) {
    case 'honest':
      return answer(response, 200, await settle());
    case 'looks-at-the-purse-first': {
      const outcome = await settle();
      const errorReason = 'insufficient_funds';
      return answer(response, 200, outcome.success ? outcome : { ...outcome, errorReason });
    }
    case 'settles-and-is-slow':
      hanging.add(response);
      await pause(SLOW_MS);
      return answer(response, 200, settled);
    case 'settles-and-hangs':
      hanging.add(response);
      return;
    case 'settles-and-says-500':
    case 'says-500':
      return answer(response, 500, { error: 'internal' });
    case 'settles-and-drops':
    case 'drops':
      response.destroy();
      return;
    case 'settles-and-denies':
      return answer(response, 200, {
        ...lie,
        success: false,
        transaction: '',
        errorReason: 'invalid_exact_evm_transaction_failed',
      });
    case 'settles-and-talks-rubbish':
      response.end('<html>');
      return;
    case 'says-503-insufficient-funds':
      return answer(response, 503, {
        ...lie,
        success: false,
        transaction: '',
        errorReason: 'insufficient_funds',
      });
    case 'claims-success-without-transaction':
      return answer(response, 200, { ...lie, transaction: '' });
    case 'claims-success-by-a-made-up-transaction':
      return answer(response, 200, lie);
    case 'claims-success-for-another':
      return answer(response, 200, { ...lie, payer: `0x${'9'.repeat(40)}` });
    case 'claims-success-elsewhere':
      return answer(response, 200, { ...lie, network: 'eip155:1' });
  }
}

function answer(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

async function readJson(
  request: IncomingMessage,
): Promise<{ paymentPayload: PaymentPayload; paymentRequirements: PaymentRequirements }> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece as Buffer);
  return JSON.parse(Buffer.concat(pieces).toString());
}
