/** Checks that the node behind `RPC_URL` is on our chain and has our token. */
import type { PaymentTerms } from '../gate/challenge.ts';
import { parseChainId } from '../gate/challenge.ts';
import { describeNodeError, type NodeRequests } from './node-requests.ts';

/** The node does not answer; another try may work. */
export class NodeUnreachable extends Error {
  override readonly name = 'NodeUnreachable';
}

/** The node serves another chain, or one without our token, so a retry would not help. */
export class WrongNode extends Error {
  override readonly name = 'WrongNode';
}

/** Throws `WrongNode`, or `NodeUnreachable`. */
export async function checkNode(
  node: NodeRequests,
  { network, asset }: Pick<PaymentTerms, 'network' | 'asset'>,
): Promise<void> {
  // viem is loaded only when there is a node.
  const { clientOn } = await import('./node-client.ts');
  const client = clientOn(node);
  const [chainId, code] = await Promise.all([
    client.getChainId(),
    client.getCode({ address: asset }),
  ]).catch((error: unknown) => {
    throw new NodeUnreachable(describeNodeError(error));
  });
  const wanted = parseChainId(network);
  if (chainId !== wanted) {
    throw new WrongNode(
      `RPC_URL leads to chain ${chainId}: give a node of ${network}, or change NETWORK.`,
    );
  }
  if (code === undefined || code === '0x') {
    throw new WrongNode(
      `RPC_URL leads to a chain without a contract at ${asset}: change ASSET, or give another node.`,
    );
  }
}
