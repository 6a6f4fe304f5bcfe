/**
 * Payment schemes known to the catalog, one row per scheme and namespace: required members of `extra`,
 * the meaning of the amount, and the client package. A scheme without a row is reported as unknown. A
 * test compares the table with the installed clients.
 */
import { type JsonValue, jsonObject } from '../json/json.ts';
import { maxOfBits, type Namespace } from './namespaces.ts';
import { claimedNamespace, V1_NETWORKS } from './networks.ts';

/** A bit width means an unsigned integer that fits it, starting at `from`, 0 or 1. */
export type ExtraForm =
  | 'text'
  | 'memo'
  | 'address'
  | 'non-zero-address'
  | 'false'
  | { readonly bits: number; readonly from?: 1 };

export type ExtraMember = {
  readonly name: string;
  readonly form: ExtraForm;
  /** Required by this transfer method only; by all when absent. */
  readonly onlyBy?: string;
  /** Checked only when present. */
  readonly isOptional?: true;
  /** Required for all assets but this one. */
  readonly unlessAsset?: string;
};

export type SchemeRow = {
  readonly scheme: string;
  readonly namespace: Namespace;
  readonly requires: readonly ExtraMember[];
  /** A ceiling is the most that may be charged; the price is known afterwards. */
  readonly amount: 'price' | 'ceiling';
  /** Largest amount of the scheme's contracts, when below the network's. */
  readonly maxAmount?: bigint;
  /** Longest timeout in seconds that fits into the scheme's contracts. */
  readonly maxTimeoutSeconds?: number;
  /** Package of the client that pays it; null when none is installed and only this table judges. */
  readonly client: string | null;
  /** Values of `assetTransferMethod` in the specification, the default first. */
  readonly methods?: readonly string[];
  /** The methods that the client supports. */
  readonly paidMethods?: readonly string[];
  readonly source: string;
};

const EVM = '@x402/evm';
const SVM = '@x402/svm';
const EIP3009 = 'eip3009';
const DOMAIN: readonly ExtraMember[] = [
  { name: 'name', form: 'text', onlyBy: EIP3009 },
  { name: 'version', form: 'text', onlyBy: EIP3009 },
];
const TRANSFER = { methods: [EIP3009, 'permit2'], paidMethods: [EIP3009, 'permit2'] };

export const SCHEMES: readonly SchemeRow[] = [
  {
    scheme: 'exact',
    namespace: 'eip155',
    requires: DOMAIN,
    amount: 'price',
    client: EVM,
    methods: [EIP3009, 'permit2', 'erc7710'],
    paidMethods: [EIP3009, 'permit2'],
    source: 'specs/schemes/exact/scheme_exact_evm.md',
  },
  {
    scheme: 'exact',
    namespace: 'solana',
    requires: [
      { name: 'feePayer', form: 'address' },
      { name: 'memo', form: 'memo', isOptional: true },
    ],
    amount: 'price',
    client: SVM,
    source: 'specs/schemes/exact/scheme_exact_svm.md',
  },
  {
    scheme: 'upto',
    namespace: 'eip155',
    requires: [{ name: 'facilitatorAddress', form: 'address' }],
    amount: 'ceiling',
    client: EVM,
    source: 'specs/schemes/upto/scheme_upto_evm.md',
  },
  {
    scheme: 'batch-settlement',
    namespace: 'eip155',
    requires: [
      { name: 'receiverAuthorizer', form: 'non-zero-address' },
      ...DOMAIN,
      { name: 'withdrawDelay', form: { bits: 40 }, isOptional: true },
    ],
    amount: 'ceiling',
    maxAmount: maxOfBits(128n),
    client: EVM,
    ...TRANSFER,
    source: 'specs/schemes/batch-settlement/scheme_batch_settlement_evm.md',
  },
  {
    scheme: 'auth-capture',
    namespace: 'eip155',
    requires: [
      { name: 'name', form: 'text' },
      { name: 'version', form: 'text' },
      { name: 'captureAuthorizer', form: 'address' },
      { name: 'feeRecipient', form: 'address' },
      { name: 'captureDeadline', form: { bits: 48 } },
      { name: 'refundDeadline', form: { bits: 48 } },
      { name: 'minFeeBps', form: { bits: 16 } },
      { name: 'maxFeeBps', form: { bits: 16 } },
      { name: 'authCaptureEscrow', form: 'address', isOptional: true },
    ],
    amount: 'ceiling',
    maxAmount: maxOfBits(120n),
    // PaymentInfo.preApprovalExpiry is a uint48 that includes the time of signing.
    maxTimeoutSeconds: 2 ** 47,
    client: EVM,
    ...TRANSFER,
    source: 'specs/schemes/auth-capture/scheme_auth_capture_evm.md',
  },
  {
    scheme: 'upto',
    namespace: 'solana',
    requires: [
      { name: 'feePayer', form: 'address' },
      { name: 'receiverAuthorizer', form: 'address' },
      { name: 'withdrawDelay', form: { bits: 32, from: 1 } },
      { name: 'memo', form: 'memo', isOptional: true },
    ],
    amount: 'ceiling',
    client: SVM,
    source: '@x402/svm, upto/client (resolveUptoSvmPaymentChannelConfig)',
  },
  ...passive('algorand', 'algo'),
  ...passive('aptos', 'aptos'),
  ...passive('stellar', 'stellar'),
  ...passive('tvm', 'ton'),
  ...passive('xrpl', 'xrpl', [
    { name: 'areFeesSponsored', form: 'false' },
    { name: 'issuer', form: 'address', unlessAsset: 'XRP' },
  ]),
  ...passive('bip122', 'lightning', [{ name: 'invoice', form: 'text' }]),
];

/** Finds a scheme's row on a network, whatever else is wrong with the offer; null when unknown. */
export function schemeRow(
  scheme: JsonValue | undefined,
  network: JsonValue | undefined,
): SchemeRow | null {
  const namespace = claimedNamespace(network);
  return SCHEMES.find((row) => row.scheme === scheme && row.namespace === namespace) ?? null;
}

/** Finds the package whose client supports a scheme on a network; null when none does. */
export function findClient(
  version: 1 | 2,
  scheme: JsonValue | undefined,
  network: JsonValue | undefined,
): string | null {
  // Version 1 ended before other schemes existed, and identifies networks by name.
  const isKnown =
    version === 2
      ? typeof network === 'string' && network.includes(':')
      : scheme === 'exact' && typeof network === 'string' && V1_NETWORKS.has(network);
  return isKnown ? (schemeRow(scheme, network)?.client ?? null) : null;
}

/** The offer's transfer method: the default when it names none, null when it is no text. */
export function transferMethod(row: SchemeRow, extra: JsonValue | undefined): string | null {
  const named = jsonObject(extra)['assetTransferMethod'] ?? row.methods?.[0] ?? '';
  return typeof named === 'string' ? named : null;
}

/** Returns true when the row's client supports the offer's method. */
export function isPaidMethod(row: SchemeRow, extra: JsonValue | undefined): boolean {
  if (row.paidMethods === undefined) return true;
  const method = transferMethod(row, extra);
  return method !== null && row.paidMethods.includes(method);
}

/** Returns true for an offer whose payment settles before the work (scheme_exact.md, "upfront"). */
export function settlesUpfront(extra: JsonValue | undefined): boolean {
  return jsonObject(extra)['paymentFlow'] === 'upfront';
}

/** Makes rows of `exact` for networks without a client, which the specification alone judges. */
function passive(
  namespace: Namespace,
  file: string,
  requires: readonly ExtraMember[] = [],
): readonly SchemeRow[] {
  const source = `specs/schemes/exact/scheme_exact_${file}.md`;
  return [{ scheme: 'exact', namespace, requires, amount: 'price', client: null, source }];
}
