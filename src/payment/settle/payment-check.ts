/** Checks a payment by the official scheme and by its gas, before it is sent. */

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
import { isRevert, NodeError } from '../../answers/node-error.ts';
import type { NodeRequests } from '../chain/node-requests.ts';
import { createChainClient, tokenAbi } from '../chain/payment-proof.ts';
import type { StoredPayment } from '../ledger/ledger.ts';
import { type FacilitatorRequest, toFacilitatorMessage } from './facilitator.ts';
import { MAX_GAS } from './signer-account.ts';

export type CheckOutcome =
  | { readonly kind: 'good'; readonly data: Hex }
  | { readonly kind: 'bad'; readonly reason: string }
  | { readonly kind: 'used' }
  /** The node did not say: nothing is known of the payment. */
  | { readonly kind: 'unanswered' };

const GAS_OVER_LIMIT = 'gas_over_limit';
const SIMULATION_FAILED = /simulation_failed/;

/** One check, by one view of the node that notes whether it failed. */
export async function checkPayment(
  node: NodeRequests,
  sender: Hex,
  request: FacilitatorRequest,
): Promise<CheckOutcome> {
  const trace = { isUnanswered: false };
  const client = createChainClient(traced(node, trace));
  try {
    const outcome = await check(client, sender, request);
    // A node that does not answer looks like a bad signature to the official scheme.
    return outcome.kind !== 'good' && trace.isUnanswered ? { kind: 'unanswered' } : outcome;
  } catch {
    return { kind: 'unanswered' };
  }
}

/** Null if the node does not say. */
export function isNonceSpent(node: NodeRequests, payment: StoredPayment): Promise<boolean | null> {
  return isNonceUsed(createChainClient(node), payment).catch(() => null);
}

async function check(
  client: PublicClient,
  sender: Hex,
  request: FacilitatorRequest,
): Promise<CheckOutcome> {
  const { payment } = request;
  const { payload, requirements } = toFacilitatorMessage(request);
  // A scheme for each call: it remembers signatures, and contract wallets may reuse theirs.
  const scheme = new ExactEvmScheme(readingSigner(client, sender, payment));
  const verdict = await scheme.verify(payload, requirements);
  if (!verdict.isValid) {
    const reason = verdict.invalidReason ?? 'invalid';
    const isUsed = SIMULATION_FAILED.test(reason) && (await isNonceUsed(client, payment));
    return isUsed ? { kind: 'used' } : { kind: 'bad', reason };
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
    return isUsed ? { kind: 'used' } : { kind: 'bad', reason: 'transaction_simulation_failed' };
  }
  return gas > MAX_GAS ? { kind: 'bad', reason: GAS_OVER_LIMIT } : { kind: 'good', data };
}

function isNonceUsed(client: PublicClient, { authorization, requirements }: StoredPayment) {
  return client.readContract({
    address: requirements.asset,
    abi: tokenAbi,
    functionName: 'authorizationState',
    args: [authorization.from, authorization.nonce],
  });
}

/** Reads, and refuses to do anything else. */
function readingSigner(
  client: PublicClient,
  sender: Hex,
  { requirements }: StoredPayment,
): FacilitatorEvmSigner {
  const refuse = () => Promise.reject(new Error('Only the nonce queue sends.'));
  return {
    getAddresses: () => [sender],
    // The scheme starts this call and may leave without waiting for it: it must never reject. The
    // token's code was checked at the start.
    getCode: ({ address }) =>
      isAddressEqual(address, requirements.asset)
        ? Promise.resolve('0x01')
        : client.getCode({ address }),
    // The x402 types say "unknown" where those of viem know the ABI.
    readContract: (args) => client.readContract(args as ReadContractParameters),
    verifyTypedData: refuse,
    writeContract: refuse,
    sendTransaction: refuse,
    waitForTransactionReceipt: refuse,
  };
}

function traced(node: NodeRequests, trace: { isUnanswered: boolean }): NodeRequests {
  return {
    async request(args) {
      try {
        return await node.request(args);
      } catch (error) {
        if (!(error instanceof NodeError && error.isRevert)) trace.isUnanswered = true;
        throw error;
      }
    },
  };
}

/** Characters of `0x` and 65 bytes. Signatures of another length are those of contract wallets. */
const PLAIN_SIGNATURE_LENGTH = 132;

/** Encodes the token's call (EIP-3009). Plain signatures go in three parts, as older tokens take no bytes. */
export function encodeTransferCall({ authorization, signature }: StoredPayment): Hex {
  const { from, to, value, validAfter, validBefore, nonce } = authorization;
  const transfer = [from, to, value, validAfter, validBefore, nonce] as const;
  const parts = signature.length === PLAIN_SIGNATURE_LENGTH ? partsOf(signature) : null;
  return encodeFunctionData({
    abi: eip3009ABI,
    functionName: 'transferWithAuthorization',
    args: parts === null ? [...transfer, signature] : [...transfer, ...parts],
  });
}

/** Null for 65 bytes that are no ECDSA signature, which only a contract wallet can check. */
function partsOf(signature: Hex): readonly [v: number, r: Hex, s: Hex] | null {
  try {
    const { r, s, v, yParity } = parseSignature(signature);
    return [Number(v ?? BigInt(yParity + 27)), r, s];
  } catch {
    return null;
  }
}
