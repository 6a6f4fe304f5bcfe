/**
 * The table of payment schemes, with one row for each pair of scheme and namespace, and the transfer methods of offers.
 * Checks report a pair without a row as unknown.
 */
import { type JsonValue, jsonObject } from '../json/json.ts';
import { classifyAddressShape } from './address-form.ts';
import { findOfferAsset } from './assets.ts';
import type { Offer } from './challenge.ts';
import { isSameAddress, maxOfBits } from './namespaces.ts';
import { findClaimedNamespace, V1_NETWORKS } from './networks.ts';
import { OTHER_SCHEMES } from './other-schemes.ts';
import { atBlob, atCommit, type ExtraMember, type SchemeRow } from './scheme-row.ts';

export const EIP3009 = 'eip3009';
const DOMAIN_MEMBERS: readonly ExtraMember[] = [
  { name: 'name', form: 'text', onlyBy: EIP3009 },
  { name: 'version', form: 'text', onlyBy: EIP3009 },
];
const EVM = { namespace: 'eip155', client: '@x402/evm', judgedBy: 'client' } as const;
const SVM = { namespace: 'solana', client: '@x402/svm', judgedBy: 'client' } as const;
const TRANSFER_METHODS = { methods: [EIP3009, 'permit2'], paidMethods: [EIP3009, 'permit2'] };
/** The commerce-payments contracts of the specification, versions 1.1 (the default) and 1.0. */
const ESCROW_CONTRACTS = [
  '0x13AC3b34322D12FE27D5e192D0c2b2266d4F29CB',
  '0xBdEA0D1bcC5966192B070Fdf62aB4EF5b4420cff',
];

const CLIENT_SCHEMES: readonly SchemeRow[] = [
  {
    ...EVM,
    scheme: 'exact',
    requires: DOMAIN_MEMBERS,
    flows: ['authorization', 'upfront'],
    amount: 'price',
    methods: [EIP3009, 'permit2', 'erc7710'],
    paidMethods: [EIP3009, 'permit2'],
    specification: atBlob('exact', 'evm', '0204eb55adb9d39010d3835a28e1ca7036f23501'),
  },
  {
    ...SVM,
    scheme: 'exact',
    requires: [
      { name: 'feePayer', form: 'address' },
      { name: 'memo', form: 'memo', isOptional: true },
    ],
    flows: ['authorization', 'upfront'],
    amount: 'price',
    specification: atBlob('exact', 'svm', '05f77b2b9fa8776c41f7e0e68bfd44e2ff930941'),
  },
  {
    ...EVM,
    scheme: 'upto',
    requires: [{ name: 'facilitatorAddress', form: 'address' }],
    flows: ['authorization'],
    amount: 'ceiling',
    specification: atBlob('upto', 'evm', '9f947c716319b017494963050991dbcd6a89938e'),
  },
  {
    ...EVM,
    ...TRANSFER_METHODS,
    scheme: 'batch-settlement',
    requires: [
      { name: 'receiverAuthorizer', form: 'non-zero-address' },
      ...DOMAIN_MEMBERS,
      { name: 'withdrawDelay', form: { bits: 40 }, isOptional: true },
    ],
    flows: ['authorization'],
    amount: 'ceiling',
    maxAmount: maxOfBits(128n),
    specification: atBlob('batch-settlement', 'evm', '7d82dc2f38d27e0615c472154d7916d536c8adb8'),
  },
  {
    ...EVM,
    ...TRANSFER_METHODS,
    scheme: 'auth-capture',
    requires: [
      { name: 'name', form: 'text' }, // both are required by each transfer method, unlike DOMAIN_MEMBERS
      { name: 'version', form: 'text' },
      { name: 'captureAuthorizer', form: 'address' },
      { name: 'feeRecipient', form: 'address' },
      { name: 'captureDeadline', form: { bits: 48 } },
      { name: 'refundDeadline', form: { bits: 48 } },
      { name: 'minFeeBps', form: { bits: 16 } },
      { name: 'maxFeeBps', form: { bits: 16 } },
      {
        name: 'authCaptureEscrow',
        form: { oneOf: ESCROW_CONTRACTS, ignoresCase: true },
        isOptional: true,
      },
      { name: 'operatorType', form: { oneOf: ['delegated', 'custom'] }, isOptional: true },
      { name: 'captureMode', form: 'absent', onlyIn: 'authorization' },
      {
        name: 'captureMode',
        form: { oneOf: ['sync', 'deferred'] },
        onlyIn: 'escrow',
        isOptional: true,
      },
      { name: 'receiverAuthorizer', form: 'non-zero-address', onlyIn: 'authorization' },
      { name: 'receiverAuthorizer', form: 'address', onlyIn: 'escrow', isOptional: true },
      { name: 'policy', form: 'zero-address', isOptional: true },
      // A member of version 1.0. In version 1.1, `paymentFlow` replaces it.
      { name: 'autoCapture', form: 'not-true', isOptional: true },
    ],
    flows: ['escrow', 'authorization'],
    amount: 'ceiling',
    maxAmount: maxOfBits(120n),
    // The time of signing plus this timeout must fit into the uint48 PaymentInfo.preApprovalExpiry.
    maxTimeoutSeconds: 2 ** 47,
    specification: atCommit('auth-capture', 'evm', '3659f12c1d73cd3f29f9addbf122268fd92116d5'),
  },
  {
    ...SVM,
    scheme: 'upto',
    // The members that @x402/svm requires (upto/client, resolveUptoSvmPaymentChannelConfig).
    requires: [
      { name: 'feePayer', form: 'address' },
      { name: 'receiverAuthorizer', form: 'address' },
      { name: 'withdrawDelay', form: { bits: 32, from: 1 } },
      { name: 'memo', form: 'memo', isOptional: true },
    ],
    flows: ['escrow'],
    amount: 'ceiling',
    specification: atCommit('upto', 'svm', '0dcf5e9b8b98cc044dbd7fbed8e8320ebe33f546'),
  },
];

export const SCHEMES: readonly SchemeRow[] = [...CLIENT_SCHEMES, ...OTHER_SCHEMES];

/** Finds the row of a scheme on a network; null if the pair is unknown. Only the prefix of the network counts. */
export function findSchemeRow(
  scheme: JsonValue | undefined,
  network: JsonValue | undefined,
): SchemeRow | null {
  const namespace = findClaimedNamespace(network);
  return SCHEMES.find((row) => row.scheme === scheme && row.namespace === namespace) ?? null;
}

/** Finds the package of the client that supports a scheme on a network; null if no client does. */
export function findClient(
  version: 1 | 2,
  scheme: JsonValue | undefined,
  network: JsonValue | undefined,
): string | null {
  // Version 1 has only the scheme `exact`, and names its networks without a CAIP-2 id.
  const fitsVersion =
    version === 2
      ? typeof network === 'string' && network.includes(':')
      : scheme === 'exact' && typeof network === 'string' && V1_NETWORKS.has(network);
  return fitsVersion ? (findSchemeRow(scheme, network)?.client ?? null) : null;
}

export type MethodTerms = Pick<Offer, 'scheme' | 'network' | 'asset' | 'payTo' | 'extra'>;

/** Stands for an offer that is signed for another contract than its token. `assetTransferMethod` never has this value. */
const OTHER_CONTRACT = 'by another contract';

/**
 * True for an offer of `exact` that is signed for `extra.verifyingContract` in place of the token, as Circle Gateway
 * asks. Its domain has another name than the token's. The contract is not the token, the recipient or zero.
 * Official clients sign such an offer for the token, so nobody settles what they sign.
 */
export function hasOtherContract({ scheme, network, asset, payTo, extra }: MethodTerms): boolean {
  const row = findSchemeRow(scheme, network);
  const { verifyingContract, name, assetTransferMethod } = jsonObject(extra);
  if (row?.scheme !== 'exact' || row.namespace !== 'eip155') return false;
  if ((assetTransferMethod ?? EIP3009) !== EIP3009) return false;
  if (typeof verifyingContract !== 'string' || typeof name !== 'string' || name === '')
    return false;
  const form = classifyAddressShape(String(network), verifyingContract, 'account');
  const isOwn = [asset, payTo].some(
    (address) => typeof address === 'string' && isSameAddress(address, verifyingContract),
  );
  return form === 'ok' && !isOwn && name !== findOfferAsset({ network, asset })?.domain?.name;
}

/** Returns the transfer method that the offer names, or else the default; null if the member is not a text. */
export function findTransferMethod(row: SchemeRow, terms: MethodTerms): string | null {
  if (hasOtherContract(terms)) return OTHER_CONTRACT;
  const { assetTransferMethod } = jsonObject(terms.extra);
  const method = assetTransferMethod ?? row.methods?.[0] ?? '';
  return typeof method === 'string' ? method : null;
}

/** True for a known pair, unless its client lacks the transfer method of the offer. */
export function isPaidMethod(terms: MethodTerms): boolean {
  const row = findSchemeRow(terms.scheme, terms.network);
  if (row === null) return false;
  if (row.paidMethods === undefined) return true;
  const method = findTransferMethod(row, terms);
  return method !== null && row.paidMethods.includes(method);
}

/** Returns true for a transfer method that the specification of the scheme does not name. */
export function isUnknownMethod(terms: MethodTerms): boolean {
  const row = findSchemeRow(terms.scheme, terms.network);
  if (row?.methods === undefined) return false;
  const method = findTransferMethod(row, terms);
  return method === null || !row.methods.includes(method);
}

/** Returns true for an offer whose payment the seller settles before the work (scheme_exact.md, "upfront"). */
export function isSettledUpfront(extra: JsonValue | undefined): boolean {
  return jsonObject(extra)['paymentFlow'] === 'upfront';
}
