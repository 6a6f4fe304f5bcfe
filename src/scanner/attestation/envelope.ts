import { createPublicKey, sign, verify } from 'node:crypto';
import canonicalize from 'canonicalize';
import { type JsonValue, readMembers } from '../model/json.ts';
import type { SigningKey, VerificationKey } from './key-set.ts';

/**
 * Returns RFC 8785 JSON. A lone surrogate has no UTF-8 form, so U+FFFD replaces it. Members that are `undefined` are
 * dropped.
 */
export function toCanonicalJson(value: JsonValue): string {
  const text = canonicalize(toWellFormed(value));
  if (text === undefined) throw new TypeError('This value has no JSON form.');
  return text;
}

function toWellFormed(value: JsonValue | undefined): JsonValue | undefined {
  if (typeof value === 'string') return value.toWellFormed();
  if (typeof value !== 'object' || value === null) return value;
  if (isList(value)) return value.map((item) => toWellFormed(item) ?? null);
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name.toWellFormed(), toWellFormed(member)]),
  );
}

function isList(value: object): value is readonly JsonValue[] {
  return Array.isArray(value);
}

export const PAYLOAD_TYPE = 'application/vnd.in-toto+json';

/** A DSSE envelope (github.com/secure-systems-lab/dsse, protocol.md and envelope.md). */
export type Envelope = {
  /** Base64 of the payload's bytes. */
  readonly payload: string;
  readonly payloadType: string;
  readonly signatures: readonly EnvelopeSignature[];
};

type EnvelopeSignature = {
  /** Id of the signing key. It is only a hint, because the signature does not cover it. */
  readonly keyid?: string | undefined;
  /** Base64. */
  readonly sig: string;
};

export function signEnvelope(payload: string, { kid, privateKey }: SigningKey) {
  const bytes = Buffer.from(payload);
  const sig = sign(null, toSignedBytes(PAYLOAD_TYPE, bytes), privateKey).toString('base64');
  return {
    payload: bytes.toString('base64'),
    payloadType: PAYLOAD_TYPE,
    signatures: [{ keyid: kid, sig }],
  } satisfies Envelope;
}

/** Returns null for JSON that is not an envelope. */
export function readEnvelope(value: unknown): Envelope | null {
  const { payload, payloadType, signatures: values } = readMembers(value);
  if (typeof payload !== 'string' || typeof payloadType !== 'string') return null;
  if (!Array.isArray(values)) return null;
  const signatures = values.map(readSignature).filter((signature) => signature !== null);
  if (signatures.length === 0 || signatures.length !== values.length) return null;
  return { payload, payloadType, signatures };
}

/** True if `publicKey` (32 bytes, base64url) made the signature. */
export function isSignedBy(
  envelope: Envelope,
  { sig }: EnvelopeSignature,
  publicKey: string,
): boolean {
  const payload = fromBase64(envelope.payload);
  const signature = fromBase64(sig);
  if (payload === null || signature === null) return false;
  try {
    const jwk = { kty: 'OKP', crv: 'Ed25519', x: publicKey };
    const key = createPublicKey({ key: jwk, format: 'jwk' });
    return verify(null, toSignedBytes(envelope.payloadType, payload), key, signature);
  } catch {
    // The text is not a public key.
    return false;
  }
}

/**
 * Decodes canonical base64 or base64url; returns null for other text. A lenient decoder would accept a file
 * in which a character was changed.
 */
export function fromBase64(text: string): Buffer | null {
  const bytes = Buffer.from(text, 'base64');
  const base64 = bytes.toString('base64');
  const base64Url = base64.replaceAll('+', '-').replaceAll('/', '_');
  return text === base64 || text === base64Url ? bytes : null;
}

/** Returns DSSE's pre-authentication encoding, which the signature covers. */
function toSignedBytes(payloadType: string, payload: Buffer): Buffer {
  const type = Buffer.from(payloadType);
  const start = `DSSEv1 ${type.length} `;
  return Buffer.concat([Buffer.from(start), type, Buffer.from(` ${payload.length} `), payload]);
}

function readSignature(value: unknown): EnvelopeSignature | null {
  const { sig, keyid } = readMembers(value);
  if (typeof sig !== 'string') return null;
  if (keyid === undefined) return { sig };
  return typeof keyid === 'string' ? { keyid, sig } : null;
}

export type EnvelopeProof = {
  readonly isProved: boolean;
  /** A clause for people that says what was proved, or what is wrong. */
  readonly message: string;
};

type SignatureProof = EnvelopeProof & {
  /** The key that the signature was compared with; null if the key set has no such key. */
  readonly key: VerificationKey | null;
};

/** Proves that a key of the set signed the envelope. One valid signature is enough. */
export function proveSignature(
  envelope: Envelope,
  keys: readonly VerificationKey[],
): SignatureProof {
  const proofs = envelope.signatures.flatMap((signature): SignatureProof[] => {
    const { keyid } = signature;
    const candidates = keys.filter(({ kid }) => keyid === undefined || kid === keyid);
    if (candidates.length === 0)
      return [toRefusal(null, `the key set has no key ${keyid ?? ''}`.trim())];
    return candidates.map((key) => {
      if (!key.matchesKid)
        return toRefusal(key, `the key ${key.kid} was changed: it has another id`);
      if (isSignedBy(envelope, signature, key.x))
        return { isProved: true, message: `by the key ${key.kid}`, key };
      return toRefusal(key, `the report or its signature was changed: ${key.kid} did not sign it`);
    });
  });
  const [firstProof = toRefusal(null, 'the key set is empty')] = proofs;
  return proofs.find(({ isProved }) => isProved) ?? firstProof;
}

/** Proves that the scan began while the key was in use, and not in the future. */
export function proveTime(
  scannedAt: string,
  key: VerificationKey | null,
  nowMs: number,
): EnvelopeProof {
  const scannedAtMs = Date.parse(scannedAt);
  const toFailure = (message: string): EnvelopeProof => ({ isProved: false, message });
  if (Number.isNaN(scannedAtMs)) return toFailure('scannedAt is not an instant');
  if (scannedAtMs > nowMs) return toFailure(`scannedAt ${scannedAt} is in the future`);
  if (key === null) return toFailure('no key gives a time to compare with');
  const { nbfMs, expMs } = key;
  if (nbfMs === null || expMs === null) return toFailure('the key does not say when it was in use');
  const from = toInstantText(nbfMs);
  const until = toInstantText(expMs);
  if (scannedAtMs < nbfMs)
    return toFailure(`the key was in use from ${from} on, after ${scannedAt}`);
  if (scannedAtMs >= expMs)
    return toFailure(`the key was in use until ${until}, before ${scannedAt}`);
  return { isProved: true, message: `the key was in use at ${scannedAt} (${from} to ${until})` };
}

function toRefusal(key: VerificationKey | null, message: string): SignatureProof {
  return { isProved: false, message, key };
}

function toInstantText(ms: number): string {
  const date = new Date(ms);
  return Number.isNaN(date.getTime()) ? 'an unknown time' : date.toISOString();
}
