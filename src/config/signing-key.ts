import { createPrivateKey, type KeyObject } from 'node:crypto';

const PKCS8_PEM = /^\s*-----BEGIN PRIVATE KEY-----/;

/** Reads an Ed25519 private key from PKCS#8 PEM; null for all else. */
export function ed25519Key(text: string): KeyObject | null {
  if (!PKCS8_PEM.test(text)) return null;
  try {
    // Environment files often hold a PEM on one line, its line ends written as backslash and n.
    const key = createPrivateKey(text.replaceAll('\\n', '\n'));
    return key.asymmetricKeyType === 'ed25519' ? key : null;
  } catch {
    return null;
  }
}
