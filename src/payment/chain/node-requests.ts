/** The node behind `RPC_URL`, asked by ourselves: errors say what failed and hold no URL. */
import { redact } from '../../model/redact.ts';

/** One answered or failed call of a node. */
export type NodeCall = {
  readonly method: string;
  readonly ms: number;
  readonly isError: boolean;
};

export type NodeOptions = {
  readonly rpcUrl: string;
  /** For one request; default 5 s. */
  readonly timeoutMs?: number | undefined;
  readonly onCall?: ((call: NodeCall) => void) | undefined;
};

/** The JSON-RPC side of a node; rejects with `NodeError` alone. */
export type NodeRequests = {
  request(args: { readonly method: string; readonly params?: unknown }): Promise<unknown>;
};

const TIMEOUT_MS = 5_000;
/** Nodes that follow EIP-1474 answer "execution reverted" with this code and the data of the revert. */
const REVERT_CODE = 3;
/** Nodes number reverts as they like; what they say of them is the same everywhere. */
const REVERT_TEXT = /\brevert(ed)?\b|out of gas|gas required exceeds/i;
const MAX_TEXT = 160;

/**
 * A call that brought no result. Only a revert says something of the payment; a limit, a fault of the
 * node and silence say nothing at all, whatever form they come in.
 */
export class NodeError extends Error {
  override readonly name = 'NodeError';
  /** viem decodes `data` where this is 3, a revert. */
  readonly code: number;
  readonly data: unknown;

  constructor(message: string, code = -32_000, data: unknown = undefined) {
    super(redact(message));
    this.code = code;
    this.data = data;
  }

  get isRevert(): boolean {
    return this.code === REVERT_CODE;
  }
}

export function nodeRequests({
  rpcUrl,
  timeoutMs = TIMEOUT_MS,
  onCall,
}: NodeOptions): NodeRequests {
  const { url, headers } = withoutCredentials(rpcUrl);
  let id = 0;

  async function ask(method: string, params: unknown): Promise<unknown> {
    const response = await fetch(url, {
      method: 'POST',
      headers,
      body: JSON.stringify({ jsonrpc: '2.0', id: ++id, method, params: params ?? [] }),
      signal: AbortSignal.timeout(timeoutMs),
    }).catch((error: unknown) => {
      throw new NodeError(`${method}: ${causeOf(error)}`);
    });
    const text = await response.text().catch((error: unknown) => {
      throw new NodeError(`${method}: ${causeOf(error)}`);
    });
    return resultOf(method, response.status, text);
  }

  return {
    async request({ method, params }) {
      const startMs = performance.now();
      const told = (isError: boolean) =>
        onCall?.({ method, ms: performance.now() - startMs, isError });
      try {
        const result = await ask(method, params);
        told(false);
        return result;
      } catch (error) {
        told(!isRevert(error));
        throw error;
      }
    },
  };
}

/** The node's own error inside what viem made of it; null where the fault is not the node's. */
export function findNodeError(error: unknown): NodeError | null {
  if (error instanceof NodeError) return error;
  return error instanceof Error ? findNodeError(error.cause) : null;
}

export function isRevert(error: unknown): boolean {
  return findNodeError(error)?.isRevert === true;
}

/** In few words and without secrets, for logs and the ledger: viem's own text quotes calldata. */
export function describeNodeError(error: unknown): string {
  const cause = findNodeError(error);
  if (cause !== null) return `RPC_URL: ${cause.message}`;
  return error instanceof Error ? `RPC_URL: ${error.name}` : 'RPC_URL failed';
}

function resultOf(method: string, status: number, text: string): unknown {
  const answer = parsed(text);
  const error = answer?.['error'];
  if (typeof error === 'object' && error !== null) {
    const { code, message, data } = error as Record<string, unknown>; // checked to be an object
    const said = typeof message === 'string' ? message.slice(0, MAX_TEXT) : 'an error';
    const isRevertAnswer = code === REVERT_CODE || REVERT_TEXT.test(said);
    throw new NodeError(
      `${method}: ${said} (${String(code)})`,
      isRevertAnswer ? REVERT_CODE : typeof code === 'number' ? code : undefined,
      data,
    );
  }
  if (status !== 200) throw new NodeError(`${method}: HTTP ${status}`);
  if (answer === null || !('result' in answer))
    throw new NodeError(`${method}: no JSON-RPC answer`);
  return answer['result'];
}

function parsed(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? { ...value } : null;
  } catch {
    return null;
  }
}

/** `fetch` refuses URLs with a user: they become the header that they stand for. */
function withoutCredentials(rpcUrl: string) {
  const url = new URL(rpcUrl);
  const { username, password } = url;
  url.username = '';
  url.password = '';
  const user = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return {
    url,
    headers: {
      'content-type': 'application/json',
      ...(username === ''
        ? {}
        : { authorization: `Basic ${Buffer.from(user).toString('base64')}` }),
    },
  };
}

function causeOf(error: unknown): string {
  if (!(error instanceof Error)) return 'failed';
  const { cause } = error;
  if (cause instanceof Error && 'code' in cause) return String(cause.code);
  return error.name === 'TimeoutError' ? 'no answer in time' : error.name;
}
