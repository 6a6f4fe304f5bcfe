import { createPrivateKey, type KeyObject } from 'node:crypto';
import type { SigningKeyStore } from '../store/signing-keys.ts';
import { makeSigningKey, type SigningKey, toSigningKey } from './signing-key.ts';

/**
 * The key that this service signs with: `given`, or the one that the store keeps, made where it keeps none.
 * The store decides between hosts that start at once: each reads again until it uses the last key.
 */
export async function openSigningKey(
  keys: SigningKeyStore,
  given: KeyObject | null,
): Promise<SigningKey> {
  const wanted = given === null ? null : toSigningKey(given);
  for (;;) {
    const last = (await keys.list()).at(-1);
    if (wanted !== null && last?.kid === wanted.kid) return wanted;
    if (wanted === null && last !== undefined && last.privateKey !== null) {
      return toSigningKey(createPrivateKey(last.privateKey));
    }
    const { kid, publicKey, privateKey } = wanted ?? makeSigningKey();
    // The private key of SIGNING_KEY stays with its operator.
    const kept = wanted === null ? toPem(privateKey) : null;
    await keys.append({ n: (last?.n ?? 0) + 1, kid, publicKey, privateKey: kept });
  }
}

function toPem(key: KeyObject): string {
  return key.export({ type: 'pkcs8', format: 'pem' }).toString();
}
