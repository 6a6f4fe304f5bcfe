/**
 * Entry of the clients' thread, with the exports of every worker. Disables the network of the thread before a package of
 * the clients loads. A new `fetch` answers a Solana client's requests to its node from fixed data, and refuses all other
 * requests.
 */
export { default, default as 'module.exports' } from '../workers/worker.ts';

const TOKEN_PROGRAM = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA';
const MINT_BYTES = 82;
const DECIMALS_OFFSET = 44;
const INITIALIZED_OFFSET = 45;
/** Every mint has six decimals here. Amounts are in base units, so the number does not matter. */
const DECIMALS = 6;
/** 32 zero bytes in base58. No block has this hash, so a signature over it is never valid. */
const ZERO_BLOCKHASH = '1'.repeat(32);
const SLOT = 1;

function createMintAccount() {
  const data = Buffer.alloc(MINT_BYTES);
  data[DECIMALS_OFFSET] = DECIMALS;
  data[INITIALIZED_OFFSET] = 1;
  return {
    data: [data.toString('base64'), 'base64'],
    executable: false,
    lamports: 1,
    owner: TOKEN_PROGRAM,
    rentEpoch: 0,
    space: MINT_BYTES,
  };
}

function toNodeAnswer(method: string): unknown {
  const context = { slot: SLOT };
  if (method === 'getAccountInfo') return { context, value: createMintAccount() };
  if (method === 'getSlot') return SLOT;
  if (method === 'getLatestBlockhash') {
    return { context, value: { blockhash: ZERO_BLOCKHASH, lastValidBlockHeight: SLOT } };
  }
  throw new TypeError(`No network here: ${method} is not answered.`);
}

async function offlineFetch(_: unknown, init?: { readonly body?: unknown }): Promise<Response> {
  const call: unknown = JSON.parse(typeof init?.body === 'string' ? init.body : 'null');
  if (typeof call !== 'object' || call === null || !('method' in call) || !('id' in call)) {
    throw new TypeError('No network here: only calls of a Solana node are answered.');
  }
  const result = toNodeAnswer(String(call.method));
  return Response.json({ jsonrpc: '2.0', id: call.id, result });
}

Object.defineProperty(globalThis, 'fetch', { value: offlineFetch });
// To read these globals would load a module for 20 ms. To delete them does not.
for (const name of ['WebSocket', 'EventSource']) Reflect.deleteProperty(globalThis, name);
