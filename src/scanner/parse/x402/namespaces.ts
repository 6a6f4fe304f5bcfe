/** The CAIP-2 namespaces that x402 schemes use, with the formats of networks, accounts and assets. */

import { keccak_256 } from '@noble/hashes/sha3.js';
import { bytesToHex } from '@noble/hashes/utils.js';

export type EvmAddress = `0x${string}`;

export const EVM_ADDRESS = /^0x[0-9a-fA-F]{40}$/;
export const ZERO_ADDRESS: EvmAddress = `0x${'0'.repeat(40)}`;

/** Accounts and assets have different formats in some namespaces. */
export type AddressRole = 'account' | 'asset';

type NamespaceRow = {
  /** The display name. */
  readonly name: string;
  /** Matches the whole network id, "eip155:8453". */
  readonly network: RegExp;
  /** Replacements of outdated network ids that specifications still contain. */
  readonly outdated?: Readonly<Record<string, string>>;
  /** Absent if any text is an account. Addresses of eip155 and solana have their own parsers. */
  readonly account?: RegExp;
  /** Absent if any text is an asset. */
  readonly asset?: RegExp;
  /** Matches the zero account, which belongs to nobody. */
  readonly zero?: RegExp;
  /** Format of amounts; absent if they are base units. On XRPL, amounts of issued currencies are decimals. */
  readonly amount?: (asset: string) => RegExp;
  /** The largest amount in base units; absent if the network sets no limit. */
  readonly maxAmount?: bigint;
  /** The document that defines the network ids. */
  readonly source: string;
};

/** Returns the largest unsigned number that fits into this many bits. */
export function maxOfBits(bits: bigint): bigint {
  return 2n ** bits - 1n;
}

const BASE58 = '[1-9A-HJ-NP-Za-km-z]';
export const SOLANA_ADDRESS = new RegExp(`^${BASE58}{32,44}$`);
const LONG_HEX = /^0x[0-9a-fA-F]{64}$/;
const RAW_TON = /^-?[0-9]{1,3}:[0-9a-fA-F]{64}$/;
const DECIMAL = /^(?:0|[1-9][0-9]{0,17})(?:\.[0-9]{1,20})?$/;
/** A positive whole number of base units, without a sign or leading zeroes, as the specification requires. */
export const BASE_UNITS = /^[1-9][0-9]{0,77}$/;
const HEDERA_NUMBER = '0\\.0\\.[1-9][0-9]{0,18}';
/** An EVM address, or a public key (Ed25519, ECDSA), raw or as DER. */
const HEDERA_ALIAS =
  '(?:0\\.0\\.)?(?:0x)?(?:[0-9a-fA-F]{40}|[0-9a-fA-F]{64}|[0-9a-fA-F]{66}|302a300506032b6570032100[0-9a-fA-F]{64}|302d300706052b8104000a032200[0-9a-fA-F]{66})';
/** The checksum is not tested, because the example of the specification has a wrong checksum. */
const CONCORDIUM_ACCOUNT = new RegExp(`^${BASE58}{50}$`);
/** Account ids of 2 to 64 characters; an implicit account is 64 hexadecimal digits. */
const NEAR_ACCOUNT = /^(?=.{2,64}$)[a-z0-9]+(?:[-_][a-z0-9]+)*(?:\.[a-z0-9]+(?:[-_][a-z0-9]+)*)*$/;
/** Base32 of the kind of a key, the key and a checksum: 38 bytes, or 39 for a key that is a compressed point. */
const KEETA_ACCOUNT = /^keeta_(?:[a-z2-7]{61}|[a-z2-7]{63})$/;

const ROWS = {
  eip155: {
    name: 'EVM chains',
    network: /^eip155:[1-9][0-9]{0,31}$/,
    account: EVM_ADDRESS,
    asset: EVM_ADDRESS,
    maxAmount: maxOfBits(256n),
    source: 'ChainAgnostic/namespaces eip155/caip2.md',
  },
  solana: {
    name: 'Solana',
    // The first 32 characters of the genesis hash, in base58.
    network: new RegExp(`^solana:${BASE58}{32}$`),
    account: SOLANA_ADDRESS,
    asset: SOLANA_ADDRESS,
    maxAmount: maxOfBits(64n),
    source: 'ChainAgnostic/namespaces solana/caip2.md',
  },
  algorand: {
    name: 'Algorand',
    // The first 32 characters of the genesis hashes of the main and the test network, in base64url.
    network: /^algorand:(?:wGHE2Pwdvd7S12BL5FaOP20EGYesN73k|SGO1GKSzyE7IEPItTxCByw9x8FmnrCDe)$/,
    outdated: {
      'algorand:wGHE2Pwdvd7S12BL5FaOP20EGYesN73ktiC1qzkkit8=':
        'algorand:wGHE2Pwdvd7S12BL5FaOP20EGYesN73k',
      'algorand:SGO1GKSzyE7IEPItTxCByw9x8FmnrCDexi9/cOUJOiI=':
        'algorand:SGO1GKSzyE7IEPItTxCByw9x8FmnrCDe',
    },
    account: /^[A-Z2-7]{58}$/,
    asset: /^[0-9]{1,20}$/,
    maxAmount: maxOfBits(64n),
    source: 'specs/schemes/exact/scheme_exact_algo.md',
  },
  aptos: {
    name: 'Aptos',
    network: /^aptos:[12]$/,
    account: LONG_HEX,
    asset: LONG_HEX,
    maxAmount: maxOfBits(64n),
    source: 'specs/schemes/exact/scheme_exact_aptos.md',
  },
  stellar: {
    name: 'Stellar',
    network: /^stellar:(?:pubnet|testnet)$/,
    account: /^(?:[GC][A-Z2-7]{55}|M[A-Z2-7]{68})$/,
    asset: /^C[A-Z2-7]{55}$/,
    // A signed integer of 128 bits (SEP-41).
    maxAmount: maxOfBits(127n),
    source: 'specs/schemes/exact/scheme_exact_stellar.md',
  },
  tvm: {
    name: 'TON',
    network: /^tvm:(?:-239|-3)$/,
    account: RAW_TON,
    asset: RAW_TON,
    // VarUInteger 16 has at most 15 bytes (TEP-74).
    maxAmount: maxOfBits(120n),
    source: 'specs/schemes/exact/scheme_exact_ton.md',
  },
  xrpl: {
    name: 'XRP Ledger',
    network: /^xrpl:(?:0|[1-9][0-9]{0,9})$/,
    account: new RegExp(`^r${BASE58}{24,34}$`),
    // XRP, or another currency by its code of three characters or of 160 bits.
    asset: /^(?:[A-Za-z0-9?!@#$%^&*<>(){}[\]|]{3}|[0-9A-Fa-f]{40})$/,
    amount: (asset) => (asset === 'XRP' ? BASE_UNITS : DECIMAL),
    source: 'specs/schemes/exact/scheme_exact_xrpl.md',
  },
  hedera: {
    name: 'Hedera',
    network: /^hedera:(?:mainnet|testnet)$/,
    account: new RegExp(`^(?:0\\.0\\.0|${HEDERA_NUMBER}|${HEDERA_ALIAS})$`),
    // HBAR (0.0.0) or a token.
    asset: new RegExp(`^(?:0\\.0\\.0|${HEDERA_NUMBER})$`),
    zero: /^(?:0\.0\.0|(?:0x)?0+)$/,
    maxAmount: maxOfBits(63n),
    source: 'specs/schemes/exact/scheme_exact_hedera.md',
  },
  near: {
    name: 'NEAR',
    network: /^near:(?:mainnet|testnet)$/,
    account: NEAR_ACCOUNT,
    asset: NEAR_ACCOUNT,
    maxAmount: maxOfBits(128n),
    source: 'specs/schemes/exact/scheme_exact_near.md',
  },
  keeta: {
    name: 'Keeta',
    network: /^keeta:(?:21378|1413829460)$/,
    account: KEETA_ACCOUNT,
    asset: KEETA_ACCOUNT,
    source: 'specs/schemes/exact/scheme_exact_keeta.md',
  },
  ccd: {
    name: 'Concordium',
    network: /^ccd:(?:9dd9ca4d19e9393877d2c44b70f89acb|4221332d34e1694168c2a0c0b3fd0f27)$/,
    account: CONCORDIUM_ACCOUNT,
    // CCD, or the registered symbol of a token.
    asset: /^[-.%A-Za-z0-9]{1,128}$/,
    maxAmount: maxOfBits(64n),
    source: 'specs/schemes/exact/scheme_exact_concordium.md',
  },
  lnbtc: {
    name: 'Bitcoin Lightning',
    // The first 32 digits of the genesis hashes of Bitcoin's main and test networks.
    network: /^lnbtc:(?:000000000019d6689c085ae165831e93|000000000933ea01ad0ee984209779ba)$/,
    // The public key of the node that receives the payment.
    account: /^[0-9a-f]{66}$/,
    asset: /^BTC$/,
    source: 'specs/schemes/exact/scheme_exact_lnbtc.md',
  },
  // We do not judge the offers on the networks below, so any text is an account and an asset there.
  cardano: toUnjudgedRow('Cardano', 'cardano', 'specs/schemes/exact/scheme_exact_cardano.md'),
  cip34: toUnjudgedRow('Cardano (CIP-34)', 'cip34', 'specs/schemes/exact/scheme_exact_cardano.md'),
  casper: toUnjudgedRow('Casper', 'casper', 'specs/schemes/exact/scheme_exact_casper.md'),
  starknet: toUnjudgedRow('Starknet', 'starknet', 'specs/schemes/exact/scheme_exact_starknet.md'),
  canton: toUnjudgedRow('Canton', 'canton', 'specs/schemes/exact/scheme_exact_canton.md'),
  sui: toUnjudgedRow('Sui', 'sui', 'specs/schemes/exact/scheme_exact_sui.md'),
  cloudflare: {
    name: 'Cloudflare',
    // This is not a CAIP-2 id, because a namespace has at most 8 characters.
    network: /^cloudflare:402$/,
    source: 'specs/schemes/batch-settlement/scheme_batch_settlement_cloudflare.md',
  },
  bip122: {
    name: 'Bitcoin (Lightning draft)',
    network: /^bip122:[0-9a-f]{32}$/,
    source: 'ChainAgnostic/namespaces bip122/caip2.md',
  },
} satisfies Record<string, NamespaceRow>;

export type Namespace = keyof typeof ROWS;
export const NAMESPACES: Readonly<Record<Namespace, NamespaceRow>> = ROWS;

function toUnjudgedRow(name: string, namespace: string, source: string): NamespaceRow {
  return { name, network: new RegExp(`^${namespace}:[-_a-zA-Z0-9]{1,32}$`), source };
}

/** The case of a hex address is only its checksum. Other addresses are case-sensitive. */
export function isSameAddress(one: string, other: string): boolean {
  return one === other || (/^0x/i.test(one) && one.toLowerCase() === other.toLowerCase());
}

/** Checks the form and ignores the checksum. */
export function isEvmAddress(value: unknown): value is EvmAddress {
  return typeof value === 'string' && EVM_ADDRESS.test(value);
}

/** True for an address in lower case, and for an address in mixed case with the right EIP-55 checksum. */
export function isChecksummed(value: string): value is EvmAddress {
  return isEvmAddress(value) && (value === value.toLowerCase() || value === toChecksummed(value));
}

/**
 * EIP-55: a letter is upper case if the digit at its index in the hash of the lower-case address is 8 or more. This is
 * not left to viem, which would load 360 modules at the start of the service.
 */
export function toChecksummed(address: string): EvmAddress {
  const digits = address.slice(2).toLowerCase();
  const hash = bytesToHex(keccak_256(new TextEncoder().encode(digits)));
  const mixedCase = [...digits].map((digit, index) =>
    Number.parseInt(hash.charAt(index), 16) >= 8 ? digit.toUpperCase() : digit,
  );
  return `0x${mixedCase.join('')}`;
}
