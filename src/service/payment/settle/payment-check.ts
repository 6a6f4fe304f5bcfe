/** Checks a payment with the official x402 scheme, and the gas that it needs, before a transaction is sent. */

import { eip3009ABI, type FacilitatorEvmSigner } from '@x402/evm';
import { ExactEvmScheme } from '@x402/evm/exact/facilitator';
import {
  encodeFunctionData,
  type Hex,
  isAddressEqual,
  type PublicClient,
  parseSignature,
  type ReadContractParameters,
} from 'viem';
import { isRevert, NodeError } from '../../../scanner/third-parties/node-answers.ts';
import type { NodeRequests } from '../chain/node-requests.ts';
import { createChainClient, isNonceUsed } from '../chain/payment-proof.ts';
import type { StoredPayment } from '../ledger/ledger.ts';
import { isPlainSignature } from '../terms.ts';
import { type FacilitatorRequest, toFacilitatorMessage } from './facilitator.ts';

export type CheckOutcome =
  /** `data` is the call of the token contract that settles the payment. */
  | { readonly kind: 'good'; readonly data: Hex }
  | { readonly kind: 'bad'; readonly reason: string }
  /** The node did not answer, so nothing is known of the payment. */
  | { readonly kind: 'unanswered' };

/** Gas limit of one settlement. */
export const MAX_GAS = 300_000n;
const SIMULATION_FAILED = /simulation_failed/;
/** Reason if the authorization was used or cancelled before, as facilitators word it. */
const NONCE_USED_REASON = 'nonce_already_used';

/** The outcome is `unanswered` if a request to the node failed, unless the payment is good. Never rejects. */
export async function checkPayment(
  node: NodeRequests,
  sender: Hex,
  request: FacilitatorRequest,
): Promise<CheckOutcome> {
  const nodeState = { isUnanswered: false };
  const client = createChainClient(noteFailures(node, nodeState));
  try {
    const outcome = await checkWithClient(client, sender, request);
    // If the node does not answer, the official scheme reports a bad signature. This verdict proves nothing.
    return outcome.kind !== 'good' && nodeState.isUnanswered ? { kind: 'unanswered' } : outcome;
  } catch {
    return { kind: 'unanswered' };
  }
}

async function checkWithClient(
  client: PublicClient,
  sender: Hex,
  request: FacilitatorRequest,
): Promise<CheckOutcome> {
  const { payment } = request;
  const { payload, requirements } = toFacilitatorMessage(request);
  // Each call has its own scheme: a scheme caches signatures, and a contract wallet may reuse a signature.
  const scheme = new ExactEvmScheme(createReadOnlySigner(client, sender, payment));
  const verdict = await scheme.verify(payload, requirements);
  if (!verdict.isValid) {
    const reason = verdict.invalidReason ?? 'invalid';
    const isUsed = SIMULATION_FAILED.test(reason) && (await isNonceUsed(client, payment));
    return { kind: 'bad', reason: isUsed ? NONCE_USED_REASON : reason };
  }
  const data = encodeTransferCall(payment);
  const gas = await client
    .request({
      method: 'eth_estimateGas',
      params: [{ from: sender, to: requirements.asset as Hex, data }],
    })
    .then(BigInt)
    .catch((error: unknown) => {
      if (isRevert(error)) return null;
      throw error;
    });
  if (gas === null) {
    const isUsed = await isNonceUsed(client, payment);
    return { kind: 'bad', reason: isUsed ? NONCE_USED_REASON : 'transaction_simulation_failed' };
  }
  return gas > MAX_GAS ? { kind: 'bad', reason: 'gas_over_limit' } : { kind: 'good', data };
}

/** A signer that can only read. The official scheme verifies signatures itself, or by the wallet's contract. */
function createReadOnlySigner(
  client: PublicClient,
  sender: Hex,
  { requirements }: StoredPayment,
): FacilitatorEvmSigner {
  const refuse = () => Promise.reject(new Error('Only the nonce queue sends.'));
  return {
    getAddresses: () => [sender],
    // The scheme may start this call without waiting for its end. A rejection would then be unhandled, so the node is
    // not asked about our token. The service has checked at its start that the token has code.
    getCode: ({ address }) =>
      isAddressEqual(address, requirements.asset)
        ? Promise.resolve('0x01')
        : client.getCode({ address }),
    // x402's types do not know the ABI, which viem's types require.
    readContract: (args) => client.readContract(args as ReadContractParameters),
    verifyTypedData: refuse,
    writeContract: refuse,
    sendTransaction: refuse,
    waitForTransactionReceipt: refuse,
  };
}

/** Sets `isUnanswered` when a request fails for another reason than a revert. */
function noteFailures(node: NodeRequests, nodeState: { isUnanswered: boolean }): NodeRequests {
  return {
    async request(args) {
      try {
        return await node.request(args);
      } catch (error) {
        if (!(error instanceof NodeError && error.isRevert)) nodeState.isUnanswered = true;
        throw error;
      }
    },
  };
}

/** Encodes the call of the token (EIP-3009). Plain signatures are split, because older tokens do not accept bytes. */
function encodeTransferCall({ authorization, signature }: StoredPayment): Hex {
  const { from, to, value, validAfter, validBefore, nonce } = authorization;
  const transfer = [from, to, value, validAfter, validBefore, nonce] as const;
  const parts = isPlainSignature({ signature }) ? splitSignature(signature) : null;
  return encodeFunctionData({
    abi: eip3009ABI,
    functionName: 'transferWithAuthorization',
    args: parts === null ? [...transfer, signature] : [...transfer, ...parts],
  });
}

/** Null if the 65 bytes are not an ECDSA signature; then only a contract wallet can check them. */
function splitSignature(signature: Hex): readonly [v: number, r: Hex, s: Hex] | null {
  try {
    const { r, s, v, yParity } = parseSignature(signature);
    return [Number(v ?? BigInt(yParity + 27)), r, s];
  } catch {
    return null;
  }
}
