/** Sends requests to the node of `RPC_URL`. viem's transport is not used, because its errors hold the URL. */

import { OperatorError } from '../../../scanner/model/redact.ts';
import {
  type AnswerReader,
  AnswerTooLong,
  createAnswerReader,
  isRefusedRedirect,
  REDIRECT_TEXT,
} from '../../../scanner/third-parties/answer-reader.ts';
import {
  findCapBytes,
  findNodeError,
  NODE_ANSWER_PARSER,
  NodeError,
  replaceLongAnswer,
  requireResult,
} from '../../../scanner/third-parties/node-answers.ts';
import { type PaymentTerms, parseChainId } from '../terms.ts';

/** Report of one request to a node, which has answered or failed. */
export type NodeCall = {
  readonly method: string;
  readonly ms: number;
  readonly isError: boolean;
};

type NodeOptions = {
  readonly rpcUrl: string;
  readonly timeoutMs: number;
  readonly onCall?: ((call: NodeCall) => void) | undefined;
  /** Reads the answers of the node. By default, this node gets its own reader. */
  readonly answers?: AnswerReader | undefined;
};

type NodeRequest = {
  readonly method: string;
  readonly params?: unknown;
  /** Only the logs of this contract are kept in a receipt. */
  readonly contract?: string;
};

/** Sends JSON-RPC requests to one node. Rejects only with `NodeError`. */
export type NodeRequests = {
  request(args: NodeRequest): Promise<unknown>;
};

export function createNodeRequests({
  rpcUrl,
  timeoutMs,
  onCall,
  answers = createAnswerReader(),
}: NodeOptions): NodeRequests {
  const { url, headers } = splitCredentials(rpcUrl);
  let lastId = 0;

  async function ask({ method, params, contract }: NodeRequest): Promise<unknown> {
    const fail = (cause: unknown) => {
      throw new NodeError(`${method}: ${describeCause(cause)}`);
    };
    const response = await fetch(url, {
      method: 'POST',
      headers,
      body: JSON.stringify({ jsonrpc: '2.0', id: ++lastId, method, params: params ?? [] }),
      // A redirect could lead to an address of our own network.
      redirect: 'error',
      signal: AbortSignal.timeout(timeoutMs),
    }).catch(fail);
    const body = response.body ?? new Blob([]).stream();
    const question = { method, contract: contract?.toLowerCase() ?? null };
    const answer = await answers
      .read(body, findCapBytes(method), NODE_ANSWER_PARSER, question)
      .catch((error: unknown) =>
        error instanceof AnswerTooLong ? replaceLongAnswer(method) : fail(error),
      );
    return requireResult(method, response.status, answer);
  }

  return {
    async request(args) {
      const { method } = args;
      const startMs = performance.now();
      const report = (isError: boolean) =>
        onCall?.({ method, ms: performance.now() - startMs, isError });
      try {
        const result = await ask(args);
        report(false);
        return result;
      } catch (error) {
        // A revert is the answer of the contract, and the node works.
        report(findNodeError(error)?.isRevert !== true);
        throw error;
      }
    },
  };
}

/** Describes an error for logs and the ledger, without secrets. The message of viem would quote calldata. */
export function describeNodeError(error: unknown): string {
  const cause = findNodeError(error);
  if (cause !== null) return `RPC_URL: ${cause.message}`;
  return error instanceof Error ? `RPC_URL: ${error.name}` : 'RPC_URL failed';
}

/** `fetch` refuses URLs with user and password, so a header carries user and password. */
function splitCredentials(rpcUrl: string) {
  const url = new URL(rpcUrl);
  const { username, password } = url;
  url.username = '';
  url.password = '';
  const userAndPassword = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return {
    url,
    headers: {
      'content-type': 'application/json',
      ...(username === ''
        ? {}
        : { authorization: `Basic ${Buffer.from(userAndPassword).toString('base64')}` }),
    },
  };
}

function describeCause(error: unknown): string {
  if (!(error instanceof Error)) return 'failed';
  if (isRefusedRedirect(error)) return REDIRECT_TEXT;
  const { cause } = error;
  if (cause instanceof Error && 'code' in cause) return String(cause.code);
  return error.name === 'TimeoutError' ? 'no answer in time' : error.name;
}

/** The node does not answer; a retry may help. */
export class NodeUnreachable extends Error {
  override readonly name = 'NodeUnreachable';
}

/** The node serves another chain, or a chain without our token, so a retry would not help. */
export class WrongNode extends OperatorError {
  override readonly name = 'WrongNode';
}

/** Checks that the node is on our chain and has our token. Throws `WrongNode`, or `NodeUnreachable`. */
export async function checkNode(
  node: NodeRequests,
  { network, asset }: Pick<PaymentTerms, 'network' | 'asset'>,
): Promise<void> {
  const readHex = async (method: string, params: readonly string[]) => {
    const result = await node.request({ method, params }).catch((error: unknown) => {
      throw new NodeUnreachable(describeNodeError(error));
    });
    if (typeof result === 'string' && result.startsWith('0x')) return result;
    throw new NodeUnreachable(`RPC_URL: ${method}: not a node's answer`);
  };
  const [chainId, tokenCode] = await Promise.all([
    readHex('eth_chainId', []),
    readHex('eth_getCode', [asset, 'latest']),
  ]);
  if (Number(chainId) !== parseChainId(network)) {
    throw new WrongNode(
      `RPC_URL leads to chain ${Number(chainId)}: give a node of ${network}, or change NETWORK.`,
    );
  }
  if (tokenCode === '0x') {
    throw new WrongNode(
      `RPC_URL leads to a chain without a contract at ${asset}: change ASSET, or give another node.`,
    );
  }
}
