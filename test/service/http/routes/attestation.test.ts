import { createHash, generateKeyPairSync } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import {
  fromBase64,
  isSignedBy,
  readEnvelope,
  toCanonicalJson,
} from '../../../../src/scanner/attestation/envelope.ts';
import { readPackageVersion } from '../../../../src/scanner/probe/client/user-agent.ts';
import { perfectSeller } from '../../../fixtures/observations/build-observations.ts';
import { type Answer, DAY_MS, startApp } from '../../../fixtures/service/start-app.ts';

const HOST = 'shop.example.com';
const PATH = `/v1/attestation?url=${HOST}`;
const DAY_SEC = DAY_MS / 1_000;
const PUBLISHED_DIGESTS: { readonly catalogs: Readonly<Record<string, string>> } = JSON.parse(
  readFileSync(new URL('../../../../catalog/published.json', import.meta.url), 'utf8'),
);

function createPem(): string {
  const { privateKey } = generateKeyPairSync('ed25519');
  return privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
}

function parseStatement(answer: Answer) {
  return JSON.parse(fromBase64(answer.json().payload)?.toString() ?? '');
}

describe('GET /v1/attestation', () => {
  test('signs the report of /v1/report, in canonical JSON, with a key of /.well-known/jwks.json', async () => {
    await using app = await startApp();
    await app.publish(HOST, { grade: 'B' });
    const answer = await app.get(PATH);
    expect(answer.statusCode).toBe(200);
    expect(answer.headers['content-type']).toBe(
      'application/vnd.dsse.envelope.v1+json; charset=utf-8',
    );
    const statement = parseStatement(answer);
    const observations = createHash('sha256').update(toCanonicalJson(perfectSeller()));
    expect(statement).toEqual({
      _type: 'https://in-toto.io/Statement/v1',
      subject: [{ name: `https://${HOST}`, digest: { sha256: observations.digest('hex') } }],
      predicateType: 'https://scanner.example/attestations/scan/v1',
      predicate: {
        report: (await app.get(`/v1/report?url=${HOST}`)).json(),
        catalog: {
          checksVersion: '2026-08-14.2',
          digest: PUBLISHED_DIGESTS.catalogs['2026-08-14.2'],
        },
        scanner: { name: 'x402-scan', version: readPackageVersion() },
        disclaimer: expect.stringMatching(/not an endorsement/),
      },
    });
    const envelope = readEnvelope(answer.json());
    expect(fromBase64(envelope?.payload ?? '')?.toString()).toBe(toCanonicalJson(statement));
    const [key] = (await app.get('/.well-known/jwks.json')).json().keys;
    const [signature] = envelope?.signatures ?? [];
    expect(signature?.keyid).toBe(key.kid);
    expect(envelope && signature && isSignedBy(envelope, signature, key.x)).toBe(true);
  });

  test('gives the same error as /v1/report without a fresh report or for a bad URL', async () => {
    await using app = await startApp();
    await app.publish(HOST);
    app.advance(DAY_MS);
    for (const url of [HOST, 'other.example.com', 'http://127.0.0.1', '']) {
      const [attestation, report] = await Promise.all([
        app.get(`/v1/attestation?url=${url}`),
        app.get(`/v1/report?url=${url}`),
      ]);
      expect([attestation.statusCode, attestation.json()]).toEqual([
        report.statusCode,
        report.json(),
      ]);
    }
    expect((await app.get(PATH)).json()).toMatchObject({ error: 'no_fresh_report' });
  });

  test('is 404 in revision 0.1.0, which sells reports', async () => {
    await using app = await startApp({ revision: '0.1.0' });
    await app.publish(HOST);
    expect((await app.get(PATH)).statusCode).toBe(404);
    expect((await app.get('/.well-known/jwks.json')).statusCode).toBe(404);
  });
});

test('the report page links to the attestation, and the predicate type is the URL of a page', async () => {
  await using app = await startApp();
  await app.publish(HOST);
  const link = 'https://api.scanner.example/v1/attestation?url=https%3A%2F%2Fshop.example.com';
  expect((await app.get(`/o/${HOST}`)).body).toContain(`<a href="${link}">`);
  expect((await app.get('/o/other.example.com')).body).not.toContain('/v1/attestation');
  app.advance(DAY_MS);
  expect((await app.get(`/o/${HOST}`)).body).not.toContain('/v1/attestation');
  const page = await app.get('/attestations/scan/v1');
  expect([page.statusCode, page.headers['content-type']]).toEqual([
    200,
    'text/html; charset=utf-8',
  ]);
  expect(page.body).toContain('not an endorsement');
});

test('the key set states when the key becomes valid and when it expires', async () => {
  const SIGNING_KEY = createPem();
  await using app = await startApp({ environment: { SIGNING_KEY } });
  const readKeys = async () => (await app.get('/.well-known/jwks.json')).json().keys;
  const [key, ...otherKeys] = await readKeys();
  const nowSec = app.now() / 1_000;
  expect(otherKeys).toEqual([]);
  expect(key).toMatchObject({ kty: 'OKP', crv: 'Ed25519', use: 'sig', alg: 'EdDSA' });
  expect(JSON.stringify(key)).not.toContain('"d"');
  // The key signs reports for up to a day after their scan, so its validity begins a day earlier.
  expect(key.nbf).toBe(nowSec - DAY_SEC);
  expect(key.exp).toBeGreaterThan(nowSec + 90 * DAY_SEC);
  app.advance(200 * DAY_MS);
  expect(await readKeys()).toEqual([{ ...key, exp: key.exp + 200 * DAY_SEC }]);
});

test('a replaced key stays in the key set for 90 days after its replacement', async () => {
  await using app = await startApp();
  const readKeys = async () => (await app.get('/.well-known/jwks.json')).json().keys;
  const [firstKey] = await readKeys();
  app.advance(10 * DAY_MS);
  const replacement = { n: 2, kid: 'next', publicKey: 'x', privateKey: null };
  await app.store.signingKeys.append(replacement);
  expect(await readKeys()).toMatchObject([
    { kid: firstKey.kid, nbf: firstKey.nbf, exp: app.now() / 1_000 },
    { kid: 'next', nbf: app.now() / 1_000 - DAY_SEC },
  ]);
  app.advance(90 * DAY_MS - 1);
  await app.store.purge(app.now());
  expect(await readKeys()).toHaveLength(2);
  app.advance(1);
  expect(await readKeys()).toHaveLength(1);
  await app.store.purge(app.now());
  expect(await app.store.signingKeys.list()).toMatchObject([{ n: 2 }]);
});
