/** Reads the payment header of a request: only its form, nothing in it is proved. */

import { PAYMENT_IDENTIFIER } from '@x402/extensions/payment-identifier';
import type { Address, Hex } from 'viem';
import { isEvmAddress, toChecksummed } from '../../config/parse-values.ts';
import type { Authorization, SignedPayment } from '../paid-route.ts';
import type { PaymentTerms } from '../terms.ts';
import { PaymentRefused } from './answers.ts';

/** Base64 characters of one payment header. */
export const MAX_PAYMENT_HEADER_LENGTH = 8_192;

/** Raw header lines, one array member a line, as `headersDistinct` of Node gives them. */
export type PaymentHeaders = {
  readonly 'payment-signature'?: readonly string[] | undefined;
  readonly 'x-payment'?: readonly string[] | undefined;
};

/** Networks that x402 version 1 calls by a word. */
const V1_NETWORKS: Readonly<Record<string, string>> = {
  base: 'eip155:8453',
  'base-sepolia': 'eip155:84532',
};

const HEX = /^0x[0-9a-fA-F]*$/;
const MAX_UINT256 = (1n << 256n) - 1n;
/** An ERC-6492 signature of a contract wallet is long; the header's own limit bounds it. */
const MIN_SIGNATURE_LENGTH = 4;

export function hasPaymentHeader(headers: Readonly<Record<string, unknown>>): boolean {
  return headers['payment-signature'] !== undefined || headers['x-payment'] !== undefined;
}

/** The one payment that a request carries, in either header or, the same, in both. */
export function decodePayment(headers: PaymentHeaders, terms: PaymentTerms): SignedPayment {
  const current = decodeLines('PAYMENT-SIGNATURE', headers['payment-signature'], terms);
  const legacy = decodeLines('X-PAYMENT', headers['x-payment'], terms);
  if (current !== null && legacy !== null && !saySame(current, legacy)) {
    throw malformed('PAYMENT-SIGNATURE and X-PAYMENT carry different payments; send one of them');
  }
  const payment = current ?? legacy;
  if (payment === null) throw malformed('there is no payment header');
  return { ...payment, hasLegacyHeader: legacy !== null };
}

type Decoded = Omit<SignedPayment, 'hasLegacyHeader'>;

function decodeLines(
  name: string,
  lines: readonly string[] | undefined,
  terms: PaymentTerms,
): Decoded | null {
  if (lines === undefined) return null;
  const [line] = lines;
  if (line === undefined || lines.length > 1) throw malformed(`${name} must be one header line`);
  return readPayload(name, parseJson(name, decodeBase64(name, line)), terms);
}

function decodeBase64(name: string, text: string): Buffer {
  if (text.length > MAX_PAYMENT_HEADER_LENGTH) {
    throw malformed(`${name} is over ${MAX_PAYMENT_HEADER_LENGTH} characters`);
  }
  const bytes = Buffer.from(text, 'base64');
  // Buffer skips what is not base64 and takes base64url too: only what encodes back is standard.
  if (text === '' || bytes.toString('base64') !== text) {
    throw malformed(`${name} is not standard base64 with padding`);
  }
  return bytes;
}

function parseJson(name: string, bytes: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    throw malformed(`${name} is not base64 of UTF-8 JSON`);
  }
}

function readPayload(name: string, value: unknown, terms: PaymentTerms): Decoded {
  const payload = record(value, name);
  const accepted = readTerms(payload);
  // First of all: a payload of another chain has another form, and its payer is to be told why.
  checkScheme(accepted, terms);
  const inner = record(payload['payload'], 'payload');
  return {
    authorization: readAuthorization(record(inner['authorization'], 'payload.authorization')),
    signature: readSignature(inner['signature']),
    identifier: readIdentifier(payload['extensions']),
    accepted,
  };
}

function readTerms(payload: Readonly<Record<string, unknown>>): SignedPayment['accepted'] {
  const version = payload['x402Version'];
  if (version === 2) return readAccepted(payload['accepted']);
  if (version === 1) return readV1Terms(payload);
  throw malformed('x402Version must be the number 2 (or 1)');
}

/** Scheme, network and token first: without them a signature cannot even be checked. */
function checkScheme(accepted: SignedPayment['accepted'], terms: PaymentTerms): void {
  if (accepted.scheme !== 'exact') {
    throw new PaymentRefused('wrong_scheme', 'sign an authorization of scheme "exact"');
  }
  if (accepted.network !== terms.network) {
    throw new PaymentRefused('wrong_network', `pay on ${terms.network}`);
  }
  if (accepted.asset !== null && accepted.asset.toLowerCase() !== terms.asset.toLowerCase()) {
    throw new PaymentRefused('wrong_asset', `pay in the token ${terms.asset}`);
  }
}

function readAccepted(value: unknown): SignedPayment['accepted'] {
  const accepted = record(value, 'accepted');
  return {
    scheme: text(accepted['scheme'], 'accepted.scheme'),
    network: text(accepted['network'], 'accepted.network'),
    asset: text(accepted['asset'], 'accepted.asset'),
    amount: text(accepted['amount'], 'accepted.amount'),
    payTo: text(accepted['payTo'], 'accepted.payTo'),
  };
}

/** A v1 payload names scheme and network beside `payload`, and repeats no terms. */
function readV1Terms(payload: Readonly<Record<string, unknown>>): SignedPayment['accepted'] {
  const network = text(payload['network'], 'network');
  return {
    scheme: text(payload['scheme'], 'scheme'),
    network: Object.hasOwn(V1_NETWORKS, network) ? (V1_NETWORKS[network] ?? network) : network,
    asset: null,
    amount: null,
    payTo: null,
  };
}

function readAuthorization(value: Readonly<Record<string, unknown>>): Authorization {
  return {
    from: address(value['from'], 'from'),
    to: address(value['to'], 'to'),
    value: uint256(value['value'], 'value'),
    validAfter: uint256(value['validAfter'], 'validAfter'),
    validBefore: uint256(value['validBefore'], 'validBefore'),
    nonce: nonce(value['nonce']),
  };
}

function readSignature(value: unknown): Hex {
  if (
    typeof value === 'string' &&
    HEX.test(value) &&
    value.length >= MIN_SIGNATURE_LENGTH &&
    value.length % 2 === 0
  ) {
    // Hex digits in one spelling: a signature that is known is compared by its text.
    return `0x${value.slice(2).toLowerCase()}`;
  }
  throw malformed('payload.signature must be 0x and an even number of hex digits');
}

/** Echoed extensions without an id are the usual case, and carry nothing. */
function readIdentifier(extensions: unknown): unknown {
  if (!isRecord(extensions)) return null;
  const declared = extensions[PAYMENT_IDENTIFIER];
  if (!isRecord(declared) || !isRecord(declared['info'])) return null;
  return declared['info']['id'] ?? null;
}

function address(value: unknown, name: string): Address {
  if (isEvmAddress(value)) return toChecksummed(value);
  throw malformed(`payload.authorization.${name} must be 0x and 40 hex digits`);
}

function uint256(value: unknown, name: string): bigint {
  if (typeof value === 'string' && /^\d{1,78}$/.test(value)) {
    const number = BigInt(value);
    if (number <= MAX_UINT256) return number;
  }
  throw malformed(`payload.authorization.${name} must be a decimal string of a uint256`);
}

function nonce(value: unknown): Hex {
  if (typeof value === 'string' && /^0x[0-9a-fA-F]{64}$/.test(value)) {
    return `0x${value.slice(2).toLowerCase()}`;
  }
  throw malformed('payload.authorization.nonce must be 0x and 64 hex digits');
}

function text(value: unknown, name: string): string {
  if (typeof value === 'string') return value;
  throw malformed(`${name} must be a string`);
}

function record(value: unknown, name: string): Readonly<Record<string, unknown>> {
  if (isRecord(value)) return value;
  throw malformed(`${name} must be a JSON object`);
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function saySame(a: Decoded, b: Decoded): boolean {
  const members = ['asset', 'amount', 'payTo'] as const;
  // A v1 payload repeats no terms, so it contradicts none.
  const isContradicted = members.some((member) => {
    const [one, other] = [a.accepted[member], b.accepted[member]];
    return one !== null && other !== null && one.toLowerCase() !== other.toLowerCase();
  });
  return !isContradicted && fingerprint(a) === fingerprint(b);
}

function fingerprint({ authorization, signature, accepted, identifier }: Decoded): string {
  const { from, to, value, validAfter, validBefore } = authorization;
  const terms = [accepted.scheme, accepted.network, identifier];
  const signed = [from, to, `${value}`, `${validAfter}`, `${validBefore}`, authorization.nonce];
  return JSON.stringify([...signed, signature, ...terms]);
}

function malformed(problem: string): PaymentRefused {
  return new PaymentRefused(
    'invalid_payment',
    `${problem}. Sign one of "accepts" and send it, base64 of JSON, as PAYMENT-SIGNATURE.`,
  );
}
