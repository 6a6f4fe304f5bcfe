/** Makes the tokens by which the Coinbase Developer Platform (CDP) knows the sender of a request. */
import { randomBytes, sign } from 'node:crypto';
import type { CdpKey } from '../../config/payment.ts';

/** The paths of a facilitator's API. */
export type Endpoint = 'verify' | 'settle' | 'supported';

/** The platform's own SDK uses the same lifetime of a token. */
const TOKEN_LIFETIME_SEC = 120;
const NONCE_BYTES = 16;

/**
 * Returns a function that makes the headers of one request to the facilitator at `url`: a JWT, signed with a key of the
 * platform and valid for one method and one path.
 */
export function createCdpHeaders(key: CdpKey, url: string) {
  const { host, pathname } = new URL(url);
  const base = `${host}${pathname.replace(/\/+$/, '')}`;
  return (endpoint: Endpoint) => {
    const method = endpoint === 'supported' ? 'GET' : 'POST';
    return { Authorization: `Bearer ${createToken(key, `${method} ${base}/${endpoint}`)}` };
  };
}

/** @param uri method and URL without its scheme, which the platform compares with the request */
function createToken({ id, privateKey }: CdpKey, uri: string): string {
  const isEd25519 = privateKey.asymmetricKeyType === 'ed25519';
  const nowSec = Math.floor(Date.now() / 1_000);
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
  const signedText = `${encodeBase64Url(header)}.${encodeBase64Url(claims)}`;
  // A JWT holds the two numbers of an ECDSA signature one after the other, not as DER.
  const signature = isEd25519
    ? sign(null, Buffer.from(signedText), privateKey)
    : sign('sha256', Buffer.from(signedText), { key: privateKey, dsaEncoding: 'ieee-p1363' });
  return `${signedText}.${signature.toString('base64url')}`;
}

function encodeBase64Url(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}
