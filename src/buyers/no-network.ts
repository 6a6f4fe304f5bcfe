/**
 * Disables the worker's network before any package loads: `fetch` answers a Solana client's node requests
 * from fixed data and refuses all others. Import it first, for its effect.
 */
const TOKEN_PROGRAM = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA';
const MINT_BYTES = 82;
const DECIMALS_AT = 44;
const INITIALIZED_AT = 45;
const DECIMALS = 6;
/** 32 zero bytes in base58; no block has this hash, so signatures over it are never valid. */
const NO_BLOCK = '1'.repeat(32);
const SLOT = 1;

function mintAccount() {
  const data = Buffer.alloc(MINT_BYTES);
  data[DECIMALS_AT] = DECIMALS;
  data[INITIALIZED_AT] = 1;
  return {
    data: [data.toString('base64'), 'base64'],
    executable: false,
    lamports: 1,
    owner: TOKEN_PROGRAM,
    rentEpoch: 0,
    space: MINT_BYTES,
  };
}

/** Every mint has six decimals here; amounts are base units, so the number does not matter. */
function toAnswer(method: string): unknown {
  const context = { slot: SLOT };
  if (method === 'getAccountInfo') return { context, value: mintAccount() };
  if (method === 'getSlot') return SLOT;
  if (method === 'getLatestBlockhash') {
    return { context, value: { blockhash: NO_BLOCK, lastValidBlockHeight: SLOT } };
  }
  throw new TypeError(`No network here: ${method} is not answered.`);
}

async function offlineFetch(_: unknown, init?: { readonly body?: unknown }): Promise<Response> {
  const call: unknown = JSON.parse(typeof init?.body === 'string' ? init.body : 'null');
  if (typeof call !== 'object' || call === null || !('method' in call) || !('id' in call)) {
    throw new TypeError('No network here: only calls of a Solana node are answered.');
  }
  const result = toAnswer(String(call.method));
  return Response.json({ jsonrpc: '2.0', id: call.id, result });
}

Object.defineProperty(globalThis, 'fetch', { value: offlineFetch });
// Deleted without assignment, because the first access would load the module for 20 ms.
for (const name of ['WebSocket', 'EventSource']) Reflect.deleteProperty(globalThis, name);

export {};
