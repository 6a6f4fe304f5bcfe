/** CAIP-2 namespaces of x402 schemes, with the formats of their networks, accounts and assets. */

export type Namespace =
  | 'eip155'
  | 'solana'
  | 'algorand'
  | 'aptos'
  | 'stellar'
  | 'tvm'
  | 'xrpl'
  | 'bip122';

/** In some namespaces accounts and assets have different formats. */
export type AddressRole = 'account' | 'asset';

export type NamespaceRow = {
  /** The display name. */
  readonly name: string;
  /** Matches the whole network, "eip155:8453". */
  readonly network: RegExp;
  /** Maps outdated ids that specifications still print to their replacements. */
  readonly outdated?: Readonly<Record<string, string>>;
  /** Accounts have at most 200 characters as well; eip155 and solana have their own parsers. */
  readonly account: RegExp;
  readonly asset: RegExp;
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

export const NAMESPACES: Readonly<Record<Namespace, NamespaceRow>> = {
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
    // The first 32 characters of the genesis hash, in base64url.
    network: /^algorand:[-_A-Za-z0-9]{32}$/,
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
    network: /^aptos:[1-9][0-9]{0,9}$/,
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
    network: /^tvm:-?[0-9]{1,10}$/,
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
  bip122: {
    name: 'Bitcoin (Lightning)',
    network: /^bip122:[0-9a-f]{32}$/,
    // The invoice names the recipient: a node's key, or none.
    account: /^(?:anonymous|[0-9a-fA-F]{66})$/,
    asset: /^BTC$/,
    source: 'specs/schemes/exact/scheme_exact_lightning.md',
  },
};

/** Test networks, whose tokens have no value; a seller with no other offers sells nothing. */
export const TESTNETS: ReadonlyMap<string, string> = new Map([
  ['eip155:84532', 'Base Sepolia'],
  ['eip155:11155111', 'Sepolia'],
  ['eip155:11124', 'Abstract Testnet'],
  ['eip155:43113', 'Avalanche Fuji'],
  ['eip155:1328', 'Sei Testnet'],
  ['eip155:80002', 'Polygon Amoy'],
  ['eip155:324705682', 'SKALE Base Sepolia'],
  ['eip155:2201', 'Stable Testnet'],
  ['eip155:421614', 'Arbitrum Sepolia'],
  ['eip155:31611', 'Mezo Testnet'],
  ['eip155:72344', 'Radius Testnet'],
  ['eip155:181228', 'HPP Sepolia'],
  ['eip155:51', 'XDC Apothem'],
  ['eip155:11142220', 'Celo Sepolia'],
  ['eip155:11155420', 'OP Sepolia'],
  ['eip155:97', 'BNB Smart Chain Testnet'],
  ['eip155:59141', 'Linea Sepolia'],
  ['eip155:534351', 'Scroll Sepolia'],
  ['eip155:1301', 'Unichain Sepolia'],
  ['eip155:10143', 'Monad Testnet'],
  ['eip155:17000', 'Holesky'],
  ['eip155:560048', 'Hoodi'],
  ['eip155:300', 'ZKsync Sepolia'],
  ['eip155:4801', 'World Chain Sepolia'],
  ['eip155:763373', 'Ink Sepolia'],
  ['eip155:1946', 'Soneium Minato'],
  ['eip155:5003', 'Mantle Sepolia'],
  ['eip155:168587773', 'Blast Sepolia'],
  ['eip155:10200', 'Gnosis Chiado'],
  ['eip155:80069', 'Berachain Bepolia'],
  ['eip155:998', 'Hyperliquid EVM Testnet'],
  ['eip155:57054', 'Sonic Blaze'],
  ['eip155:114', 'Flare Coston2'],
  ['eip155:1315', 'Story Aeneid'],
  ['eip155:5042002', 'Arc Testnet'],
  ['eip155:4690', 'IoTeX Testnet'],
  ['eip155:6343', 'MegaETH Testnet'],
  ['eip155:44787', 'Celo Alfajores'],
  ['eip155:84531', 'Base Goerli'],
  ['eip155:5', 'Goerli'],
  ['eip155:9746', 'Plasma Testnet'],
  ['solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1', 'Solana Devnet'],
  ['solana:4uhcVJyU9pJkvQyS88uRDiswHXSCkY3z', 'Solana Testnet'],
  ['algorand:SGO1GKSzyE7IEPItTxCByw9x8FmnrCDe', 'Algorand Testnet'],
  ['algorand:SGO1GKSzyE7IEPItTxCByw9x8FmnrCDexi9/cOUJOiI=', 'Algorand Testnet'],
  ['aptos:2', 'Aptos Testnet'],
  ['stellar:testnet', 'Stellar Testnet'],
  ['tvm:-3', 'TON Testnet'],
  ['xrpl:1', 'XRPL Testnet'],
  ['xrpl:2', 'XRPL Devnet'],
  ['bip122:000000000933ea01ad0ee984209779ba', 'Bitcoin Testnet'],
]);

/** Networks with real money that have a known asset or a name in version 1. */
export const MAINNETS: ReadonlyMap<string, string> = new Map([
  ['eip155:8453', 'Base'],
  ['eip155:1', 'Ethereum'],
  ['eip155:2741', 'Abstract'],
  ['eip155:43114', 'Avalanche'],
  ['eip155:4689', 'IoTeX'],
  ['eip155:1329', 'Sei'],
  ['eip155:137', 'Polygon'],
  ['eip155:3338', 'peaq'],
  ['eip155:1514', 'Story'],
  ['eip155:41923', 'EDU Chain'],
  ['eip155:4326', 'MegaETH'],
  ['eip155:143', 'Monad'],
  ['eip155:988', 'Stable'],
  ['eip155:42220', 'Celo'],
  ['eip155:14', 'Flare'],
  ['eip155:42161', 'Arbitrum One'],
  ['eip155:31612', 'Mezo'],
  ['eip155:723487', 'Radius'],
  ['eip155:36900', 'ADI Chain'],
  ['eip155:190415', 'HPP'],
  ['eip155:50', 'XDC'],
  ['eip155:38833', 'Igra'],
  ['solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp', 'Solana'],
]);
