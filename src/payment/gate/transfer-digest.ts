/** What a payer signs: the EIP-712 digest of an EIP-3009 transfer. */
import { keccak_256 } from '@noble/hashes/sha3.js';
import type { Authorization } from '../paid-route.ts';
import { chainIdOf, type PaymentTerms } from './challenge.ts';

const DOMAIN_TYPE =
  'EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)';
const TRANSFER_TYPE =
  'TransferWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce)';
/** Before every digest of typed data: no transaction begins with these bytes. */
const PREFIX = Buffer.from([0x19, 0x01]);
const WORD_DIGITS = 64;

/**
 * Digests of transfers of the token that the terms name. Written out for this one message, whose form the
 * header's reader has checked: the general encoder of viem comes with 360 modules, and hashes the domain and
 * both types anew for each payment.
 */
export function transferDigester(
  terms: PaymentTerms,
): (authorization: Authorization) => Uint8Array {
  const domain = hashOf(
    hashOf(Buffer.from(DOMAIN_TYPE)),
    hashOf(Buffer.from(terms.assetName)),
    hashOf(Buffer.from(terms.assetVersion)),
    number(BigInt(chainIdOf(terms.network))),
    word(terms.asset),
  );
  const transferType = hashOf(Buffer.from(TRANSFER_TYPE));
  return ({ from, to, value, validAfter, validBefore, nonce }) => {
    const transfer = hashOf(
      transferType,
      word(from),
      word(to),
      number(value),
      number(validAfter),
      number(validBefore),
      word(nonce),
    );
    return hashOf(PREFIX, domain, transfer);
  };
}

function hashOf(...parts: readonly Uint8Array[]): Uint8Array {
  return keccak_256(Buffer.concat(parts));
}

/** Hex of at most 32 bytes, filled up from the left. */
function word(hex: string): Uint8Array {
  return Buffer.from(hex.slice(2).padStart(WORD_DIGITS, '0'), 'hex');
}

function number(value: bigint): Uint8Array {
  return word(`0x${value.toString(16)}`);
}
