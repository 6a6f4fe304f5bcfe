import { once } from 'node:events';
import { createServer, request } from 'node:https';
import { expect, test } from 'vitest';
import { createTestCa, type ServerCertificate, selfSigned } from './test-ca.ts';

const DAY_MS = 86_400_000;

/** What a Node client that trusts `ca` says about this certificate on `127.0.0.1`: a status or an error code. */
async function visit(pair: ServerCertificate, ca: string, servername?: string) {
  const server = createServer(pair, (_request, response) => response.end('ok'));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  try {
    return await new Promise<number | string | undefined>((resolve) => {
      request(
        {
          host: '127.0.0.1',
          port: address.port,
          ca,
          agent: false,
          ...(servername && { servername }),
        },
        (response) => resolve(response.resume().statusCode),
      )
        .on('error', (error) => resolve('code' in error ? String(error.code) : error.message))
        .end();
    });
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

test('a client that trusts the root accepts names and addresses that were asked for', async () => {
  const ca = await createTestCa();
  const pair = await ca.issue({ hosts: ['seller.test', '*.shop.test', '127.0.0.1', '::1'] });
  expect(await visit(pair, ca.pem)).toBe(200);
  expect(await visit(pair, ca.pem, 'seller.test')).toBe(200);
  expect(await visit(pair, ca.pem, 'a.shop.test')).toBe(200);
});

test('another name, another root, an end in the past and a lone certificate are each refused', async () => {
  const ca = await createTestCa();
  const other = await createTestCa('Other root');
  const hosts = ['127.0.0.1'];
  const elsewhere = await ca.issue({ hosts: ['elsewhere.test'] });
  const expired = await ca.issue({ hosts, notAfter: new Date(Date.now() - DAY_MS) });
  const early = await ca.issue({ hosts, notBefore: new Date(Date.now() + DAY_MS) });

  expect(await visit(elsewhere, ca.pem)).toBe('ERR_TLS_CERT_ALTNAME_INVALID');
  expect(await visit(await ca.issue({ hosts }), other.pem)).toBe('UNABLE_TO_VERIFY_LEAF_SIGNATURE');
  expect(await visit(expired, ca.pem)).toBe('CERT_HAS_EXPIRED');
  expect(await visit(early, ca.pem)).toBe('CERT_NOT_YET_VALID');
  expect(await visit(await selfSigned(hosts), ca.pem)).toBe('DEPTH_ZERO_SELF_SIGNED_CERT');
});

test('a certificate for no host is refused at once', async () => {
  await expect(selfSigned([])).rejects.toThrow('give at least one');
});
