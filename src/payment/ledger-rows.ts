import { type Address, getAddress, type Hex } from 'viem';
import type { JsonObject } from '../model/json.ts';
import type { LedgerEntry, LedgerRow } from '../store/contract/ledger.ts';
import type { Requirements } from './payment-terms.ts';
import type { Authorization, SignedPayment } from './signed-payment.ts';
import { isPaid } from './transitions.ts';

/** What a claim keeps: enough to settle it later, by any host, at the terms of its day. */
export interface StoredPayment {
  readonly authorization: Authorization;
  readonly signature: Hex;
  readonly requirements: Requirements;
}

/** JSON has no bigint, and numbers of it lose digits. */
interface StoredPaymentJson {
  readonly authorization: Readonly<Record<keyof Authorization, string>>;
  readonly signature: Hex;
  readonly requirements: Requirements;
}

export function storePayment(payment: SignedPayment, requirements: Requirements): JsonObject {
  const { from, to, value, validAfter, validBefore, nonce } = payment.authorization;
  return {
    payment: {
      authorization: {
        from,
        to,
        value: `${value}`,
        validAfter: `${validAfter}`,
        validBefore: `${validBefore}`,
        nonce,
      },
      signature: payment.signature,
      requirements: { ...requirements, extra: { ...requirements.extra } },
    },
  };
}

/** The claim that the last steps of a key belong to; a released key may be claimed again. */
export function currentClaim(entry: LedgerEntry): LedgerRow {
  const claim = entry.rows.findLast((row) => row.state === 'claimed');
  if (claim === undefined) throw new Error(`Ledger key ${entry.key} was never claimed.`);
  return claim;
}

export function storedPayment(entry: LedgerEntry): StoredPayment {
  // `storePayment` is the only writer of this document, and the store keeps it unchanged.
  const { payment } = currentClaim(entry).data as unknown as { payment: StoredPaymentJson };
  const { authorization, signature, requirements } = payment;
  return {
    authorization: {
      from: getAddress(authorization.from),
      to: getAddress(authorization.to),
      value: BigInt(authorization.value),
      validAfter: BigInt(authorization.validAfter),
      validBefore: BigInt(authorization.validBefore),
      nonce: authorization.nonce as Hex, // as above: written as Hex
    },
    signature,
    requirements,
  };
}

/** The transaction that moved the money, or that may have; null where nobody told us one. */
export function transactionOf(entry: LedgerEntry): Hex | null {
  const row = entry.rows.findLast((candidate) => typeof candidate.data['transaction'] === 'string');
  const transaction = row?.data['transaction'];
  return typeof transaction === 'string' ? (transaction as Hex) : null; // written as Hex
}

/** Database time at which the money was known to have moved; null where it was not. */
export function settledAtMs(entry: LedgerEntry): number | null {
  return entry.rows.find((row) => isPaid(row.state))?.atMs ?? null;
}

/** Scans that the calls under a key computed, newest first. */
export function scanIdsOf(entry: LedgerEntry | null): readonly string[] {
  const ids = (entry?.rows ?? []).flatMap((row) => (row.scanId === undefined ? [] : [row.scanId]));
  return [...new Set(ids.toReversed())];
}

/** The first signed field in which a payment differs from the one that holds its key, or null. */
export function differingField(
  stored: StoredPayment,
  { authorization }: SignedPayment,
): 'to' | 'value' | 'validAfter' | 'validBefore' | null {
  const held = stored.authorization;
  if (!sameAddress(held.to, authorization.to)) return 'to';
  if (held.value !== authorization.value) return 'value';
  if (held.validAfter !== authorization.validAfter) return 'validAfter';
  if (held.validBefore !== authorization.validBefore) return 'validBefore';
  return null;
}

function sameAddress(a: Address, b: Address): boolean {
  return a.toLowerCase() === b.toLowerCase();
}
