/** Gas fees of a transaction, and of its replacement (EIP-1559). */
import type { PublicClient } from 'viem';

/** Wei for one unit of gas. */
export type GasFee = {
  readonly maxFeePerGas: bigint;
  readonly maxPriorityFeePerGas: bigint;
};

/** The base fee may double, in six full blocks, before a transaction is left behind. */
const BASE_FEE_ROOM = 2n;
/** Nodes take a replacement from 10 % more on; 12.5 is what they are used to. */
const STEP = { numerator: 9n, denominator: 8n };

/** Estimates the fee that goes through now. Rejects as the client does. */
export async function currentFee(client: PublicClient): Promise<GasFee> {
  const [{ baseFeePerGas }, tip] = await Promise.all([
    client.getBlock(),
    client.estimateMaxPriorityFeePerGas({ chain: null }),
  ]);
  const base = baseFeePerGas ?? 0n;
  return { maxFeePerGas: base * BASE_FEE_ROOM + tip, maxPriorityFeePerGas: tip };
}

/** At least a step above what was offered, more where the market asks for more. */
export function higherFee(offered: GasFee, market: GasFee): GasFee {
  return {
    maxFeePerGas: max(step(offered.maxFeePerGas), market.maxFeePerGas),
    maxPriorityFeePerGas: max(step(offered.maxPriorityFeePerGas), market.maxPriorityFeePerGas),
  };
}

export function isOver(fee: GasFee, first: GasFee, times: bigint): boolean {
  return fee.maxFeePerGas > first.maxFeePerGas * times;
}

function step(fee: bigint): bigint {
  return (fee * STEP.numerator) / STEP.denominator + 1n;
}

function max(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}
