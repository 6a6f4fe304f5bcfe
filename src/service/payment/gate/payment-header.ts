/** Decodes the payment header of a request and checks its form. It verifies no signature. */

import { PAYMENT_IDENTIFIER } from '@x402/extensions/payment-identifier';
import type { Address, Hex } from 'viem';
import { isEvmAddress, toChecksummed } from '../../../scanner/parse/x402/namespaces.ts';
import { toAuthorizationTexts } from '../ledger/ledger.ts';
import type { Authorization, SignedPayment } from '../paid-route.ts';
import type { PaymentTerms } from '../terms.ts';
import { PaymentRefused } from './refusals.ts';

/** Base64 characters of one payment header. */
export const MAX_PAYMENT_HEADER_LENGTH = 8_192;

/** Raw header lines, one array member per line, like `headersDistinct` of Node. */
export type PaymentHeaders = {
  readonly 'payment-signature'?: readonly string[] | undefined;
  readonly 'x-payment'?: readonly string[] | undefined;
};

/** CAIP-2 ids of networks, by their names in x402 version 1. */
const V1_NETWORKS: ReadonlyMap<string, string> = new Map([
  ['base', 'eip155:8453'],
  ['base-sepolia', 'eip155:84532'],
]);

/** At least one byte. There is no maximum, because signatures of contract wallets (ERC-6492) are long. */
const SIGNATURE_PATTERN = /^0x(?:[0-9a-fA-F]{2})+$/;
const MAX_UINT256 = (1n << 256n) - 1n;

export function hasPaymentHeader(headers: Readonly<Record<string, unknown>>): boolean {
  return headers['payment-signature'] !== undefined || headers['x-payment'] !== undefined;
}

/** Decodes the payment of a request. If both headers are sent, they must carry the same payment. */
export function decodePayment(headers: PaymentHeaders, terms: PaymentTerms): SignedPayment {
  const current = decodeLines('PAYMENT-SIGNATURE', headers['payment-signature'], terms);
  const legacy = decodeLines('X-PAYMENT', headers['x-payment'], terms);
  if (current !== null && legacy !== null && !isSamePayment(current, legacy)) {
    throw malformed('PAYMENT-SIGNATURE and X-PAYMENT carry different payments; send one of them');
  }
  const payment = current ?? legacy;
  if (payment === null) throw malformed('there is no payment header');
  return { ...payment, hasLegacyHeader: legacy !== null };
}

type DecodedPayment = Omit<SignedPayment, 'hasLegacyHeader'>;

function decodeLines(
  name: string,
  lines: readonly string[] | undefined,
  terms: PaymentTerms,
): DecodedPayment | null {
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
  // Buffer skips wrong characters and accepts base64url. Only standard base64 equals its own encoding.
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

function readPayload(name: string, value: unknown, terms: PaymentTerms): DecodedPayment {
  const payload = requireObject(value, name);
  const accepted = readTerms(payload);
  // This check comes first. Payloads of other chains have other forms, and payers must learn that the chain is wrong.
  checkScheme(accepted, terms);
  const inner = requireObject(payload['payload'], 'payload');
  return {
    authorization: readAuthorization(inner['authorization']),
    signature: readSignature(inner['signature']),
    identifier: readIdentifierText(payload['extensions']),
    accepted,
  };
}

function readTerms(payload: Readonly<Record<string, unknown>>): SignedPayment['accepted'] {
  const version = payload['x402Version'];
  if (version === 2) return readAccepted(payload['accepted']);
  if (version === 1) return readV1Terms(payload);
  throw malformed('x402Version must be the number 2 (or 1)');
}

/** Throws for another scheme, network or token, whose signatures we cannot check. */
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
  const accepted = requireObject(value, 'accepted');
  return {
    scheme: requireText(accepted['scheme'], 'accepted.scheme'),
    network: requireText(accepted['network'], 'accepted.network'),
    asset: requireText(accepted['asset'], 'accepted.asset'),
    amount: requireText(accepted['amount'], 'accepted.amount'),
    payTo: requireText(accepted['payTo'], 'accepted.payTo'),
  };
}

/** A v1 payload names scheme and network beside `payload`, and no other terms. */
function readV1Terms(payload: Readonly<Record<string, unknown>>): SignedPayment['accepted'] {
  const network = requireText(payload['network'], 'network');
  return {
    scheme: requireText(payload['scheme'], 'scheme'),
    network: V1_NETWORKS.get(network) ?? network,
    asset: null,
    amount: null,
    payTo: null,
  };
}

function readAuthorization(value: unknown): Authorization {
  const authorization = requireObject(value, 'payload.authorization');
  return {
    from: requireAddress(authorization['from'], 'from'),
    to: requireAddress(authorization['to'], 'to'),
    value: requireUint256(authorization['value'], 'value'),
    validAfter: requireUint256(authorization['validAfter'], 'validAfter'),
    validBefore: requireUint256(authorization['validBefore'], 'validBefore'),
    nonce: requireNonce(authorization['nonce']),
  };
}

function readSignature(value: unknown): Hex {
  if (typeof value === 'string' && SIGNATURE_PATTERN.test(value)) {
    // Signatures are compared as texts, so all must be in lower case.
    return `0x${value.slice(2).toLowerCase()}`;
  }
  throw malformed('payload.signature must be 0x and an even number of hex digits');
}

/** Returns null if there is no id. Most clients copy the extension from the challenge and add no id. */
function readIdentifierText(extensions: unknown): unknown {
  if (!isRecord(extensions)) return null;
  const declared = extensions[PAYMENT_IDENTIFIER];
  if (!isRecord(declared) || !isRecord(declared['info'])) return null;
  return declared['info']['id'] ?? null;
}

function requireAddress(value: unknown, name: string): Address {
  if (isEvmAddress(value)) return toChecksummed(value);
  throw malformed(`payload.authorization.${name} must be 0x and 40 hex digits`);
}

function requireUint256(value: unknown, name: string): bigint {
  if (typeof value === 'string' && /^\d{1,78}$/.test(value)) {
    const number = BigInt(value);
    if (number <= MAX_UINT256) return number;
  }
  throw malformed(`payload.authorization.${name} must be a decimal string of a uint256`);
}

function requireNonce(value: unknown): Hex {
  if (typeof value === 'string' && /^0x[0-9a-fA-F]{64}$/.test(value)) {
    return `0x${value.slice(2).toLowerCase()}`;
  }
  throw malformed('payload.authorization.nonce must be 0x and 64 hex digits');
}

function requireText(value: unknown, name: string): string {
  if (typeof value === 'string') return value;
  throw malformed(`${name} must be a string`);
}

function requireObject(value: unknown, name: string): Readonly<Record<string, unknown>> {
  if (isRecord(value)) return value;
  throw malformed(`${name} must be a JSON object`);
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isSamePayment(a: DecodedPayment, b: DecodedPayment): boolean {
  const terms = ['asset', 'amount', 'payTo'] as const;
  // These terms are null in a v1 payload, and null contradicts nothing.
  const isContradicted = terms.some((term) => {
    const termOfA = a.accepted[term]?.toLowerCase();
    const termOfB = b.accepted[term]?.toLowerCase();
    return termOfA !== undefined && termOfB !== undefined && termOfA !== termOfB;
  });
  return !isContradicted && toFingerprint(a) === toFingerprint(b);
}

function toFingerprint({ authorization, signature, accepted, identifier }: DecodedPayment): string {
  const signed = toAuthorizationTexts(authorization);
  return JSON.stringify([signed, signature, accepted.scheme, accepted.network, identifier]);
}

function malformed(problem: string): PaymentRefused {
  return new PaymentRefused(
    'invalid_payment',
    `${problem}. Sign one of "accepts" and send it, base64 of JSON, as PAYMENT-SIGNATURE.`,
  );
}
