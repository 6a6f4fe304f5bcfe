import { createPublicKey, hash, type KeyObject, sign, verify } from 'node:crypto';
import canonicalize from 'canonicalize';
import { type JsonObject, type JsonValue, readMembers } from '../model/json.ts';

export type SigningKey = {
  /** RFC 7638 thumbprint of the public key. */
  readonly kid: string;
  /** The 32 bytes of the public key, base64url, as in the member `x` of a JWK. */
  readonly publicKey: string;
  /** An Ed25519 key. A log that prints a KeyObject does not show the key. */
  readonly privateKey: KeyObject;
};

/** RFC 7638 thumbprint of an Ed25519 key (RFC 8037): a digest of the required members, sorted by name. */
export function toThumbprint(publicKey: string): string {
  const members = JSON.stringify({ crv: 'Ed25519', kty: 'OKP', x: publicKey });
  return hash('sha256', members, 'base64url');
}

/** A public key of a JWK Set. A stranger may have made the set. */
export type VerificationKey = {
  readonly kid: string;
  readonly x: string;
  /** True if `kid` is the thumbprint of `x`. If not, somebody changed one of them. */
  readonly matchesKid: boolean;
  readonly nbfMs: number | null;
  readonly expMs: number | null;
};

/** Returns the Ed25519 keys of a JWK Set; null for JSON that is not a JWK Set. */
export function readKeySet(value: unknown): readonly VerificationKey[] | null {
  const { keys } = readMembers(value);
  return Array.isArray(keys) ? keys.map(readKey).filter((key) => key !== null) : null;
}

function readKey(value: unknown): VerificationKey | null {
  const { kty, crv, x, kid: statedKid, nbf, exp } = readMembers(value);
  if (kty !== 'OKP' || crv !== 'Ed25519' || typeof x !== 'string') return null;
  const ownKid = toThumbprint(x);
  const kid = typeof statedKid === 'string' ? statedKid : ownKid;
  return {
    kid,
    x,
    matchesKid: kid === ownKid,
    nbfMs: toMilliseconds(nbf),
    expMs: toMilliseconds(exp),
  };
}

function toMilliseconds(value: unknown): number | null {
  return typeof value === 'number' && Number.isFinite(value) ? value * 1_000 : null;
}

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

export const STATEMENT_TYPE = 'https://in-toto.io/Statement/v1';
/** A predicate type is the address of a site, followed by this path. */
export const PREDICATE_PATH = '/attestations/scan/v1';

/** An in-toto Statement v1 about one scan. */
export type ScanStatement = {
  readonly _type: typeof STATEMENT_TYPE;
  readonly subject: readonly [
    {
      /** The scanned origin. */
      readonly name: string;
      /** Digest of the canonical `observations` of the scan's recording. */
      readonly digest: { readonly sha256: string };
    },
  ];
  readonly predicateType: string;
  readonly predicate: {
    /** The body of `GET /v1/report`. */
    readonly report: JsonObject;
    readonly catalog: {
      readonly checksVersion: string;
      /** Digest of the catalog's file: "sha256:" and 64 hex digits. `catalog/published.json` lists the digests. */
      readonly digest: string;
    };
    readonly scanner: { readonly name: string; readonly version: string };
    readonly disclaimer: string;
  };
};

export function toStatement(
  subject: { readonly origin: string; readonly observationsSha256: string },
  siteUrl: string,
  predicate: ScanStatement['predicate'],
): ScanStatement {
  return {
    _type: STATEMENT_TYPE,
    subject: [{ name: subject.origin, digest: { sha256: subject.observationsSha256 } }],
    predicateType: `${siteUrl}${PREDICATE_PATH}`,
    predicate,
  };
}

/** Returns the site in the predicate type of a scan; null for any other predicate type. */
export function parsePredicateSite(predicateType: string): string | null {
  if (!predicateType.endsWith(PREDICATE_PATH)) return null;
  const site = predicateType.slice(0, -PREDICATE_PATH.length);
  return /^https?:\/\/[^/?#]+$/.test(site) ? site : null;
}
