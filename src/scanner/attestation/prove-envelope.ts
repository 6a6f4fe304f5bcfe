import { Ajv } from 'ajv';
import { type Static, Type } from 'typebox';
import { type JsonValue, tryParseJson } from '../model/json.ts';
import {
  type Envelope,
  isSignedBy,
  parsePredicateSite,
  STATEMENT_TYPE,
  type VerificationKey,
} from './envelope.ts';

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

const statementSchema = Type.Object({
  _type: Type.Literal(STATEMENT_TYPE),
  subject: Type.Array(
    Type.Object({ name: Type.String(), digest: Type.Object({ sha256: Type.String() }) }),
    { minItems: 1, maxItems: 1 },
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

/** The content of a statement about a scan. A stranger may have written it. */
export type SignedReport = Static<typeof statementSchema>['predicate'] & {
  /** The origin that the statement's subject names. in-toto tools find statements by subject. */
  readonly subject: string;
  readonly observationsSha256: string;
  /** The address of the scanner's site, from the predicate type. */
  readonly site: string;
};

/** Returns null for bytes that are not a statement about a scan. */
export function readStatement(payload: Buffer): SignedReport | null {
  const value = tryParseJson(payload.toString());
  if (!new Ajv().compile<Static<typeof statementSchema>>(statementSchema)(value)) return null;
  const site = parsePredicateSite(value.predicateType);
  const [subject] = value.subject;
  if (site === null || subject === undefined) return null;
  const { name, digest } = subject;
  return { ...value.predicate, subject: name, observationsSha256: digest.sha256, site };
}
