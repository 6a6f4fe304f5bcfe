/** The tests verify the tokens with the public key, as the servers of the Coinbase Developer Platform do. */
import { generateKeyPairSync, type KeyObject, verify } from 'node:crypto';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { describe, expect, test } from 'vitest';
import { parseCdpPrivateKey } from '../../../src/service/config/payment.ts';
import {
  createCdpHeaders,
  createRemoteFacilitator,
} from '../../../src/service/payment/settle/remote-facilitator.ts';
import { listenLocally } from '../../fixtures/service/local-server.ts';

const KEY_ID = 'organizations/11111111-2222-3333-4444-555555555555/apiKeys/1';
const CDP_URL = 'https://api.cdp.coinbase.com/platform/v2/x402';

const ed25519 = generateKeyPairSync('ed25519');
const p256 = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const pkcs8 = toPem(p256.privateKey, 'pkcs8');

const KEY_FORMS = [
  [
    'Ed25519, as the portal gives it',
    toPortalSecret(ed25519.privateKey),
    'EdDSA',
    ed25519.publicKey,
  ],
  ['P-256 as PKCS #8', pkcs8, 'ES256', p256.publicKey],
  ['P-256 as SEC1', toPem(p256.privateKey, 'sec1'), 'ES256', p256.publicKey],
  ['P-256 on one line', pkcs8.replaceAll('\n', '\\n'), 'ES256', p256.publicKey],
] as const;

describe.each(KEY_FORMS)('a key in the form "%s"', (_form, secret, alg, publicKey) => {
  test('signs for each path a token that names its method, is valid for two minutes and has a new nonce', async () => {
    const startSec = Math.floor(Date.now() / 1_000);
    const tokens = await createTokens(secret);
    const endSec = Math.floor(Date.now() / 1_000);
    const uris = {
      verify: 'POST api.cdp.coinbase.com/platform/v2/x402/verify',
      settle: 'POST api.cdp.coinbase.com/platform/v2/x402/settle',
      supported: 'GET api.cdp.coinbase.com/platform/v2/x402/supported',
    };
    const nonces = new Set<string>();
    for (const [path, uri] of Object.entries(uris)) {
      const { header, claims } = verifyAndDecode(tokens[path] ?? '', publicKey);
      expect(header).toEqual({
        alg,
        kid: KEY_ID,
        typ: 'JWT',
        nonce: expect.stringMatching(/^[0-9a-f]{32}$/),
      });
      expect(claims).toEqual({
        sub: KEY_ID,
        iss: 'cdp',
        uris: [uri],
        iat: expect.any(Number),
        nbf: claims.iat,
        exp: claims.iat + 120,
      });
      expect(Number.isInteger(claims.iat)).toBe(true);
      expect(claims.iat).toBeGreaterThanOrEqual(startSec);
      expect(claims.iat).toBeLessThanOrEqual(endSec);
      nonces.add(header.nonce);
    }
    expect(nonces.size).toBe(3);
  });
});

test('a token does not verify with another key or with a changed claim', async () => {
  const { settle = '' } = await createTokens(pkcs8);
  const [head, , signature] = settle.split('.');
  const claims = Buffer.from(JSON.stringify({ sub: 'another' })).toString('base64url');
  expect(isSignatureValid(`${head}.${claims}.${signature}`, p256.publicKey)).toBe(false);
  const otherKey = generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey;
  expect(isSignatureValid(settle, otherKey)).toBe(false);
});

test.each([
  ['an empty text', ''],
  ['a seed without its public key', Buffer.alloc(32, 1).toString('base64')],
  ['a key of another curve', toPem(generateKeyPairSync('ec', { namedCurve: 'P-384' }).privateKey)],
  ['an RSA key', toPem(generateKeyPairSync('rsa', { modulusLength: 2_048 }).privateKey)],
  ['a public key', String(p256.publicKey.export({ type: 'spki', format: 'pem' }))],
  ['a PEM cut short', pkcs8.slice(0, 80)],
])('%s is refused as a key', (_case, secret) => {
  expect(parseCdpPrivateKey(secret)).toBeNull();
});

test('every request to the facilitator carries the token for its own path', async () => {
  const requests: { line: string; headers: IncomingHttpHeaders }[] = [];
  const server = createServer(({ method, url, headers }, response) => {
    requests.push({ line: `${method} ${url}`, headers });
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ kinds: [], extensions: [], signers: {} }));
  });
  await using local = await listenLocally(server);
  const cdpKey = createKey(pkcs8);
  const facilitator = createRemoteFacilitator({ url: `${local.url}/x402/`, cdpKey });
  await facilitator.findSupported();

  expect(requests.map(({ line }) => line)).toEqual(['GET /x402/supported']);
  const token = (requests[0]?.headers.authorization ?? '').replace('Bearer ', '');
  const { claims } = verifyAndDecode(token, p256.publicKey);
  expect(claims.uris).toEqual([`GET ${local.host}/x402/supported`]);
});

function createKey(secret: string) {
  const privateKey = parseCdpPrivateKey(secret);
  if (privateKey === null) throw new Error('not a key');
  return { id: KEY_ID, privateKey };
}

async function createTokens(secret: string): Promise<Record<string, string>> {
  const createHeaders = createCdpHeaders(createKey(secret), CDP_URL);
  return Object.fromEntries(
    (['verify', 'settle', 'supported'] as const).map((endpoint) => [
      endpoint,
      createHeaders(endpoint).Authorization.replace('Bearer ', ''),
    ]),
  );
}

function verifyAndDecode(token: string, publicKey: KeyObject) {
  expect(isSignatureValid(token, publicKey)).toBe(true);
  const [header = '', claims = ''] = token.split('.');
  const decode = (part: string) => JSON.parse(Buffer.from(part, 'base64url').toString());
  return { header: decode(header), claims: decode(claims) };
}

function isSignatureValid(token: string, publicKey: KeyObject): boolean {
  const [header, claims, signature = ''] = token.split('.');
  const isEd25519 = publicKey.asymmetricKeyType === 'ed25519';
  return verify(
    isEd25519 ? null : 'sha256',
    Buffer.from(`${header}.${claims}`),
    isEd25519 ? publicKey : { key: publicKey, dsaEncoding: 'ieee-p1363' },
    Buffer.from(signature, 'base64url'),
  );
}

function toPortalSecret(key: KeyObject): string {
  const { d = '', x = '' } = key.export({ format: 'jwk' });
  return Buffer.concat([Buffer.from(d, 'base64url'), Buffer.from(x, 'base64url')]).toString(
    'base64',
  );
}

function toPem(key: KeyObject, type: 'pkcs8' | 'sec1' = 'pkcs8'): string {
  return String(key.export({ type, format: 'pem' }));
}
