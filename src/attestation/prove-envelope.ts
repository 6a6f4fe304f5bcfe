import { Ajv } from 'ajv';
import { type Static, Type } from 'typebox';
import type { JsonValue } from '../model/json.ts';
import { type Envelope, isSignedBy, parsePredicateSite, STATEMENT_TYPE } from './envelope.ts';
import type { NamedKey } from './signing-keys.ts';

export type EnvelopeProof = {
  readonly isProved: boolean;
  /** A clause that says what was proved, or what differs. */
  readonly says: string;
};

export type SignatureProof = EnvelopeProof & {
  /** The key that the envelope names; null if the key set has none of that name. */
  readonly key: NamedKey | null;
};

/** Proves that a key of the set signed the envelope: any one of its signatures is enough. */
export function proveSignature(envelope: Envelope, keys: readonly NamedKey[]): SignatureProof {
  const proofs = envelope.signatures.flatMap((signature): SignatureProof[] => {
    const { keyid } = signature;
    const named = keys.filter(({ kid }) => keyid === undefined || kid === keyid);
    if (named.length === 0) return [refused(null, `the key set has no key ${keyid ?? ''}`.trim())];
    return named.map((key) => {
      if (!key.isItself) return refused(key, `the key ${key.kid} was changed: it has another id`);
      if (isSignedBy(envelope, signature, key.x)) return signedBy(key);
      return refused(key, `the report or its signature was changed: ${key.kid} did not sign it`);
    });
  });
  const [first = refused(null, 'the key set is empty')] = proofs;
  return proofs.find(({ isProved }) => isProved) ?? first;
}

/** Proves that the key was in use when the scan began, and that this is not in the future. */
export function proveTime(scannedAt: string, key: NamedKey | null, nowMs: number): EnvelopeProof {
  const atMs = Date.parse(scannedAt);
  const fails = (says: string): EnvelopeProof => ({ isProved: false, says });
  if (Number.isNaN(atMs)) return fails('scannedAt is not an instant');
  if (atMs > nowMs) return fails(`scannedAt ${scannedAt} is in the future`);
  if (key === null) return fails('no key gives a time to compare with');
  const { nbfMs, expMs } = key;
  if (nbfMs === null || expMs === null) return fails('the key does not say when it was in use');
  const from = instant(nbfMs);
  const until = instant(expMs);
  if (atMs < nbfMs) return fails(`the key was in use from ${from} on, after ${scannedAt}`);
  if (atMs >= expMs) return fails(`the key was in use until ${until}, before ${scannedAt}`);
  return { isProved: true, says: `the key was in use at ${scannedAt} (${from} to ${until})` };
}

function signedBy(key: NamedKey): SignatureProof {
  return { isProved: true, says: `by the key ${key.kid}`, key };
}

function refused(key: NamedKey | null, says: string): SignatureProof {
  return { isProved: false, says, key };
}

function instant(ms: number): string {
  const date = new Date(ms);
  return Number.isNaN(date.getTime()) ? 'an unknown time' : date.toISOString();
}

const statementSchema = Type.Object({
  _type: Type.Literal(STATEMENT_TYPE),
  subject: Type.Array(
    Type.Object({ name: Type.String(), digest: Type.Object({ sha256: Type.String() }) }),
    {
      minItems: 1,
      maxItems: 1,
    },
  ),
  predicateType: Type.String(),
  predicate: Type.Object({
    report: Type.Object({
      origin: Type.String(),
      grade: Type.String(),
      score: Type.Number(),
      checksVersion: Type.String(),
      scannedAt: Type.String(),
      results: Type.Unsafe<readonly JsonValue[]>({ type: 'array' }),
    }),
    catalog: Type.Object({ checksVersion: Type.String(), digest: Type.String() }),
  }),
});

/** A statement about a scan, as somebody else wrote it. */
export type SignedReport = Static<typeof statementSchema>['predicate'] & {
  /** The origin that the subject names; tools of in-toto match statements by it. */
  readonly subject: string;
  readonly observationsSha256: string;
  /** The site that the predicate type names. */
  readonly site: string;
};

/** Null for bytes that are not a statement about a scan. */
export function readStatement(payload: Buffer): SignedReport | null {
  let value: unknown;
  try {
    value = JSON.parse(payload.toString());
  } catch {
    return null;
  }
  if (!new Ajv().compile<Static<typeof statementSchema>>(statementSchema)(value)) return null;
  const site = parsePredicateSite(value.predicateType);
  const [subject] = value.subject;
  if (site === null || subject === undefined) return null;
  const { name, digest } = subject;
  return { ...value.predicate, subject: name, observationsSha256: digest.sha256, site };
}
