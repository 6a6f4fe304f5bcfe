/** Callers who have not paid cannot learn to which addresses a host name resolves. */
import { expect, test } from 'vitest';
import type { Resolver } from '../../../src/scanner/guard/name-servers.ts';
import { DEFAULT_POLICY, parseOrigin } from '../../../src/scanner/guard/origin.ts';
import type { PreflightEngine } from '../../../src/scanner/preflight/judge-challenge.ts';
import { preflightForStranger } from '../../../src/scanner/preflight/preflight.ts';
import { createProbeClient } from '../../../src/scanner/probe/client/client.ts';
import { startApp } from '../../fixtures/service/start-app.ts';
import { openRealClient } from '../turns/turn-clients.ts';

const ORIGIN = parseOrigin('https://shop.example.com');

function createResolver(answer: () => Promise<string[]>): Resolver {
  return { resolve4: answer, resolve6: answer, lookup: async () => [] };
}

const failWith = (code: string) => () => Promise.reject(Object.assign(new Error(code), { code }));

const DNS_ANSWERS = [
  ['a private address', async () => ['10.2.3.4']],
  ['seventeen addresses', async () => Array.from({ length: 17 }, (_value, n) => `1.1.1.${n}`)],
  ['a name that does not exist', failWith('ENOTFOUND')],
  ['no address', failWith('ENODATA')],
  ['name servers that fail', failWith('ESERVFAIL')],
  ['name servers that are slow', failWith('ETIMEOUT')],
] as const;

async function preflight(resolver: Resolver) {
  const connect = () => Promise.reject(new Error('nothing may be dialled'));
  const options = { policy: DEFAULT_POLICY, userAgent: 'test', resolver, connect };
  const client = createProbeClient(options);
  const judges = {} as PreflightEngine; // The engine is never called, because no server answers.
  const request = { origin: ORIGIN, path: '/', method: 'GET', maxPrice: null } as const;
  try {
    return await preflightForStranger(request, { ...judges, client, answerWithinMs: 50 });
  } finally {
    client.close();
  }
}

test.each(DNS_ANSWERS)(
  'a preflight gives the same answer for a host with %s',
  async (_dnsAnswer, answer) => {
    expect(await preflight(createResolver(answer))).toEqual({
      verdict: 'no-go',
      reasons: [
        {
          code: 'unreachable',
          evidence: 'shop.example.com: its name gave no public address in time',
        },
      ],
      terms: null,
      termsDigest: null,
    });
  },
);

test.each(DNS_ANSWERS)(
  'a confirm gives the same answer for a host with %s',
  async (_dnsAnswer, answer) => {
    const resolver = createResolver(answer);
    const openClient = openRealClient({ resolver, policy: DEFAULT_POLICY, userAgent: 'test' });
    await using service = await startApp({ openClient });
    const { url } = ORIGIN;
    await service.post('/v1/verify/start', { url });
    const confirmAnswer = await service.post('/v1/verify/confirm', { url });
    expect(confirmAnswer.statusCode).toBe(200);
    expect(confirmAnswer.json()).toEqual({
      host: 'shop.example.com',
      verified: false,
      reason: 'unreachable',
      instructions: expect.stringContaining(' gave no answer (dns). '),
    });
  },
);
