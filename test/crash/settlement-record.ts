import { createServer, type IncomingMessage } from 'node:http';
import { keccak256 } from 'viem';
import { listenLocally } from '../fixtures/service/local-server.ts';

/** One transfer that was made. */
export type Transfer = {
  readonly nonce: string;
  readonly payer: string;
  readonly transaction: string;
};

/** A facilitator and its chain in the parent: what it has settled outlives every crash of the child. */
export type SettlementRecord = AsyncDisposable & {
  readonly url: string;
  readonly transfers: readonly Transfer[];
  /** True: the next settlements are made, and their answers lost, one in so many. 0 for none. */
  loseEvery: number;
};

type Asked = {
  paymentPayload: { payload: { authorization: { from: string; nonce: `0x${string}` } } };
  paymentRequirements: { network: string };
};

export async function startSettlementRecord(): Promise<SettlementRecord> {
  const made = new Map<string, Transfer>();
  const state = { loseEvery: 0, requestCount: 0 };
  const kinds = [{ x402Version: 2, scheme: 'exact', network: 'eip155:8453' }];

  const server = createServer(async (request, response) => {
    const answer = (body: unknown) => {
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    };
    if (request.url === '/supported') return answer({ kinds, extensions: [], signers: {} });
    const { paymentPayload, paymentRequirements } = await readJson(request);
    const { from, nonce } = paymentPayload.payload.authorization;
    const isUsed = made.has(nonce);
    if (request.url === '/verify') {
      return answer(
        isUsed
          ? { isValid: false, invalidReason: 'invalid_exact_evm_nonce_already_used' }
          : { isValid: true, payer: from },
      );
    }
    const { network } = paymentRequirements;
    if (isUsed) {
      const errorReason = 'invalid_exact_evm_nonce_already_used';
      return answer({ success: false, errorReason, transaction: '', network, payer: from });
    }
    const transaction = keccak256(nonce);
    made.set(nonce, { nonce, payer: from.toLowerCase(), transaction });
    state.requestCount += 1;
    if (state.loseEvery > 0 && state.requestCount % state.loseEvery === 0) {
      response.destroy();
      return;
    }
    answer({ success: true, transaction, network, payer: from });
  });
  return {
    ...(await listenLocally(server)),
    get transfers() {
      return [...made.values()];
    },
    get loseEvery() {
      return state.loseEvery;
    },
    set loseEvery(every) {
      state.loseEvery = every;
    },
  };
}

async function readJson(request: IncomingMessage): Promise<Asked> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece as Buffer);
  return JSON.parse(Buffer.concat(pieces).toString());
}
