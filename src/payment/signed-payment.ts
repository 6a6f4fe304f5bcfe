/** What a payment header says, as its payer signed it. */
import type { Address, Hex } from 'viem';

/** The members of EIP-3009 `TransferWithAuthorization`, as they were signed. */
export type Authorization = {
  readonly from: Address;
  readonly to: Address;
  /** Base units. */
  readonly value: bigint;
  /** Seconds since the epoch. */
  readonly validAfter: bigint;
  readonly validBefore: bigint;
  readonly nonce: Hex;
};

/** A payment header, decoded and checked for form alone: nothing in it is proved. */
export type SignedPayment = {
  readonly authorization: Authorization;
  readonly signature: Hex;
  /** What the payer says it accepted; of a v1 payload only scheme and network are there. */
  readonly accepted: {
    readonly scheme: string;
    readonly network: string;
    readonly asset: string | null;
    readonly amount: string | null;
    readonly payTo: string | null;
  };
  /** `payment-identifier` of the payload, not yet checked for form; null where none was given. */
  readonly identifier: unknown;
  /** Whether the request carried `X-PAYMENT`, and so wants `X-PAYMENT-RESPONSE`. */
  readonly legacyHeader: boolean;
};
