/** DSSE envelopes (github.com/secure-systems-lab/dsse, protocol.md and envelope.md). */
import { createPublicKey, sign, verify } from 'node:crypto';
import type { SigningKey } from './signing-key.ts';

export const PAYLOAD_TYPE = 'application/vnd.in-toto+json';

export type Envelope = {
  /** Base64 of the payload's bytes. */
  readonly payload: string;
  readonly payloadType: string;
  readonly signatures: readonly EnvelopeSignature[];
};

export type EnvelopeSignature = {
  /** A hint at the key; nothing signs it. */
  readonly keyid?: string | undefined;
  /** Base64. */
  readonly sig: string;
};

export function signEnvelope(
  payload: string,
  { kid, privateKey }: Pick<SigningKey, 'kid' | 'privateKey'>,
) {
  const bytes = Buffer.from(payload);
  const sig = sign(null, signedBytes(PAYLOAD_TYPE, bytes), privateKey).toString('base64');
  const envelope = {
    payload: bytes.toString('base64'),
    payloadType: PAYLOAD_TYPE,
    signatures: [{ keyid: kid, sig }],
  };
  return envelope satisfies Envelope;
}

/** Null for JSON that is no envelope. */
export function readEnvelope(value: unknown): Envelope | null {
  if (typeof value !== 'object' || value === null) return null;
  if (!('payload' in value) || typeof value.payload !== 'string') return null;
  if (!('payloadType' in value) || typeof value.payloadType !== 'string') return null;
  if (!('signatures' in value) || !Array.isArray(value.signatures)) return null;
  const signatures = value.signatures.map(readSignature).filter((one) => one !== null);
  if (signatures.length === 0 || signatures.length !== value.signatures.length) return null;
  return { payload: value.payload, payloadType: value.payloadType, signatures };
}

/** True where the key with these 32 bytes (base64url) made the signature. */
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
    return verify(null, signedBytes(envelope.payloadType, payload), key, signature);
  } catch {
    // The text is no public key.
    return false;
  }
}

/**
 * Decodes base64 of either alphabet; null for any text but the canonical encoding. A lenient decoder would
 * accept a file in which a character was changed.
 */
export function fromBase64(text: string): Buffer | null {
  const bytes = Buffer.from(text, 'base64');
  const standard = bytes.toString('base64');
  const isSame = text === standard || text === toUrlAlphabet(standard);
  return isSame ? bytes : null;
}

function toUrlAlphabet(base64: string): string {
  return base64.replaceAll('+', '-').replaceAll('/', '_');
}

/** Returns the pre-authentication encoding, which DSSE signs in place of the payload. */
function signedBytes(payloadType: string, payload: Buffer): Buffer {
  const type = Buffer.from(payloadType);
  const head = `DSSEv1 ${type.length} `;
  return Buffer.concat([Buffer.from(head), type, Buffer.from(` ${payload.length} `), payload]);
}

function readSignature(value: unknown): EnvelopeSignature | null {
  if (typeof value !== 'object' || value === null) return null;
  if (!('sig' in value) || typeof value.sig !== 'string') return null;
  if (!('keyid' in value) || value.keyid === undefined) return { sig: value.sig };
  return typeof value.keyid === 'string' ? { keyid: value.keyid, sig: value.sig } : null;
}
