/** Signs requests to a facilitator with a key of the Coinbase Developer Platform: a JWT each. */
import { randomBytes, sign } from 'node:crypto';
import type { CdpKey } from '../../config/payment.ts';

/** Lifetime of a token, as the platform's own SDK sets it. */
const TOKEN_LIFETIME_SEC = 120;
const NONCE_BYTES = 16;
const METHODS = { verify: 'POST', settle: 'POST', supported: 'GET' } as const;

export type CdpAuthOptions = {
  readonly key: CdpKey;
  /** URL of the facilitator; a token is valid for one method and one path below it. */
  readonly url: string;
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
};

/** Makes the headers of one request to each path. */
export function cdpAuthHeaders({
  key,
  url,
  now = Date.now,
}: CdpAuthOptions): () => Promise<
  Record<keyof typeof METHODS, { readonly Authorization: string }>
> {
  const { host, pathname } = new URL(url);
  const base = `${host}${pathname.replace(/\/+$/, '')}`;
  const headerFor = (name: keyof typeof METHODS) => ({
    Authorization: `Bearer ${cdpToken(key, `${METHODS[name]} ${base}/${name}`, now())}`,
  });
  return async () => ({
    verify: headerFor('verify'),
    settle: headerFor('settle'),
    supported: headerFor('supported'),
  });
}

/** @param uri method and URL without its scheme, as the platform's servers compare them */
function cdpToken({ id, privateKey }: CdpKey, uri: string, nowMs: number): string {
  const isEd25519 = privateKey.asymmetricKeyType === 'ed25519';
  const nowSec = Math.floor(nowMs / 1_000);
  const header = {
    alg: isEd25519 ? 'EdDSA' : 'ES256',
    kid: id,
    typ: 'JWT',
    nonce: randomBytes(NONCE_BYTES).toString('hex'),
  };
  const claims = {
    sub: id,
    iss: 'cdp',
    uris: [uri],
    iat: nowSec,
    nbf: nowSec,
    exp: nowSec + TOKEN_LIFETIME_SEC,
  };
  const signed = `${encode(header)}.${encode(claims)}`;
  // JWTs carry the two numbers of an ECDSA signature side by side, not in DER.
  const signature = isEd25519
    ? sign(null, Buffer.from(signed), privateKey)
    : sign('sha256', Buffer.from(signed), { key: privateKey, dsaEncoding: 'ieee-p1363' });
  return `${signed}.${signature.toString('base64url')}`;
}

function encode(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}
