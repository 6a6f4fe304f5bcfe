/** The token file is read over TLS, and its handshakes are counted. */
import { expect, test } from 'vitest';
import { parseAllowHosts, parseOrigin } from '../../../src/scanner/guard/origin.ts';
import { fetchToken } from '../../../src/service/ownership/token-reader.ts';
import { withRealClient } from '../turns/turn-clients.ts';
import { startTokenOrigin } from './token-origin.ts';

const MAX_ATTEMPTS = 100;

test('a fetch counts the cost of its TLS handshakes, whether it found the file or not', async () => {
  await using origin = await startTokenOrigin();
  const policy = { allowedPorts: [443], allowHosts: parseAllowHosts(origin.host) };
  const userAgent = 'x402-conformance-scanner/test';
  const fetchOnce = () =>
    withRealClient({ policy, userAgent, extraCa: [origin.ca] }, async (client) => ({
      ...(await fetchToken(parseOrigin(origin.url, policy), client)),
      handshakeMs: client.stats().handshakeMs,
    }));
  origin.serve('a token\n');
  expect(await fetchOnce()).toEqual({
    kind: 'served',
    text: 'a token',
    handshakeMs: expect.any(Number),
  });
  origin.answer((response) => void response.writeHead(404).end());
  // Some kernels count processor time in whole milliseconds, so one handshake may cost 0 ms.
  let handshakesMs = 0;
  for (let attempts = 0; attempts < MAX_ATTEMPTS && handshakesMs === 0; attempts += 1) {
    const notFound = await fetchOnce();
    expect(notFound).toMatchObject({ kind: 'unusable', reason: 'wrong_status' });
    handshakesMs += notFound.handshakeMs;
  }
  expect(handshakesMs).toBeGreaterThan(0);
});
