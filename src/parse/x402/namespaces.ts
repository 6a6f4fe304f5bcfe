/** CAIP-2 namespaces of x402 schemes, with the formats of their networks, accounts and assets. */

/** In some namespaces accounts and assets have different formats. */
export type AddressRole = 'account' | 'asset';

export type NamespaceRow = {
  /** The display name. */
  readonly name: string;
  /** Matches the whole network, "eip155:8453". */
  readonly network: RegExp;
  /** Maps outdated ids that specifications still print to their replacements. */
  readonly outdated?: Readonly<Record<string, string>>;
  /**
   * Accounts have at most 200 characters as well; eip155 and solana have their own parsers. Absent when
   * any text will do.
   */
  readonly account?: RegExp;
  readonly asset?: RegExp;
  /** The account that nobody holds. */
  readonly zero?: RegExp;
  /** Format of amounts that are not base units: XRPL writes issued currencies as decimals. */
  readonly amount?: (asset: string) => RegExp;
  /** Largest transferable number of base units; absent when the network sets no bit width. */
  readonly maxAmount?: bigint;
  readonly source: string;
};

/** Returns the largest unsigned number of this many bits. */
export function maxOfBits(bits: bigint): bigint {
  return 2n ** bits - 1n;
}

const BASE58 = '[1-9A-HJ-NP-Za-km-z]';
const EVM_ADDRESS = /^0x[0-9a-fA-F]{40}$/;
const SOLANA_ADDRESS = new RegExp(`^${BASE58}{32,44}$`);
const LONG_HEX = /^0x[0-9a-fA-F]{64}$/;
const RAW_TON = /^-?[0-9]{1,3}:[0-9a-fA-F]{64}$/;
const DECIMAL = /^(?:0|[1-9][0-9]{0,17})(?:\.[0-9]{1,20})?$/;
const BASE_UNITS = /^[1-9][0-9]{0,77}$/;
const HEDERA_NUMBER = '0\\.0\\.[1-9][0-9]{0,18}';
/** An EVM address, or a public key, raw or as DER (Ed25519, ECDSA). */
const HEDERA_ALIAS =
  '(?:0\\.0\\.)?(?:0x)?(?:[0-9a-fA-F]{40}|[0-9a-fA-F]{64}|[0-9a-fA-F]{66}|302a300506032b6570032100[0-9a-fA-F]{64}|302d300706052b8104000a032200[0-9a-fA-F]{66})';
/** 50 characters; the specification's own example has a wrong checksum. */
const CONCORDIUM_ACCOUNT = new RegExp(`^${BASE58}{50}$`);
/** Account ids of 2 to 64 characters; an implicit account is 64 hexadecimal digits. */
const NEAR_ACCOUNT = /^(?=.{2,64}$)[a-z0-9]+(?:[-_][a-z0-9]+)*(?:\.[a-z0-9]+(?:[-_][a-z0-9]+)*)*$/;
/** Base32 of a key, its kind and a checksum: 38 bytes, or 39 with a compressed point. */
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
    // XRP itself, a code of three characters, or 160 bits of it.
    asset: /^(?:[A-Za-z0-9?!@#$%^&*<>(){}[\]|]{3}|[0-9A-Fa-f]{40})$/,
    amount: (asset) => (asset === 'XRP' ? BASE_UNITS : DECIMAL),
    source: 'specs/schemes/exact/scheme_exact_xrpl.md',
  },
  hedera: {
    name: 'Hedera',
    network: /^hedera:(?:mainnet|testnet)$/,
    account: new RegExp(`^(?:0\\.0\\.0|${HEDERA_NUMBER}|${HEDERA_ALIAS})$`),
    // HBAR itself, or a token.
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
    // CCD itself, or the registered symbol of a token.
    asset: /^[-.%A-Za-z0-9]{1,128}$/,
    maxAmount: maxOfBits(64n),
    source: 'specs/schemes/exact/scheme_exact_concordium.md',
  },
  lnbtc: {
    name: 'Bitcoin Lightning',
    // The first 32 digits of the genesis hashes of Bitcoin's main and test networks.
    network: /^lnbtc:(?:000000000019d6689c085ae165831e93|000000000933ea01ad0ee984209779ba)$/,
    // The key of the node that takes the payment.
    account: /^[0-9a-f]{66}$/,
    asset: /^BTC$/,
    source: 'specs/schemes/exact/scheme_exact_lnbtc.md',
  },
  // Pairs of these are known and not judged: any text is an account and an asset there.
  cardano: named('Cardano', 'cardano', 'specs/schemes/exact/scheme_exact_cardano.md'),
  cip34: named('Cardano (CIP-34)', 'cip34', 'specs/schemes/exact/scheme_exact_cardano.md'),
  casper: named('Casper', 'casper', 'specs/schemes/exact/scheme_exact_casper.md'),
  starknet: named('Starknet', 'starknet', 'specs/schemes/exact/scheme_exact_starknet.md'),
  canton: named('Canton', 'canton', 'specs/schemes/exact/scheme_exact_canton.md'),
  sui: named('Sui', 'sui', 'specs/schemes/exact/scheme_exact_sui.md'),
  cloudflare: {
    name: 'Cloudflare',
    // No CAIP-2 identifier: its namespace has too many letters.
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

function named(name: string, namespace: string, source: string): NamespaceRow {
  return { name, network: new RegExp(`^${namespace}:[-_a-zA-Z0-9]{1,32}$`), source };
}

/** Hex addresses differ in case by checksum only; base58 is case-sensitive. */
export function isSameAddress(one: string, other: string): boolean {
  return one === other || (/^0x/i.test(one) && one.toLowerCase() === other.toLowerCase());
}
