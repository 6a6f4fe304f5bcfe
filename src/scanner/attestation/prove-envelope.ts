import { type Envelope, isSignedBy } from './envelope.ts';
import type { VerificationKey } from './key-set.ts';

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
