/** The challenge file, fetched over TLS. */
import { expect, test } from 'vitest';
import { parseAllowHosts, parseOrigin } from '../../src/guard/origin.ts';
import { createTokenFetcher } from '../../src/ownership/ownership-token.ts';
import { createProbeClient } from '../../src/probe/client/client.ts';
import { startTokenOrigin } from './token-origin.ts';

const MAX_TRIES = 100;

test('a fetch reports the cost of its handshakes, whatever the host serves', async () => {
  await using origin = await startTokenOrigin();
  const policy = { allowedPorts: [443], allowHosts: parseAllowHosts(origin.host) };
  const fetchToken = createTokenFetcher({
    policy,
    userAgent: 'x402-conformance-scanner/test',
    createClient: createProbeClient,
    extraCa: [origin.ca],
  });
  const fetched = () => fetchToken(parseOrigin(origin.url, policy), async () => true);
  origin.serve('a token\n');
  expect(await fetched()).toEqual({
    kind: 'served',
    text: 'a token',
    handshakeMs: expect.any(Number),
  });
  origin.answer((response) => void response.writeHead(404).end());
  // Some kernels count a thread's processor time in steps of milliseconds, so one may tell zero.
  let handshakesMs = 0;
  for (let tries = 0; tries < MAX_TRIES && handshakesMs === 0; tries += 1) {
    const absent = await fetched();
    expect(absent).toMatchObject({ kind: 'unusable', reason: 'wrong_status' });
    handshakesMs += absent.handshakeMs ?? 0;
  }
  expect(handshakesMs).toBeGreaterThan(0);
});
