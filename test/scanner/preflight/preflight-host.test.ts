/** Preflight of a bare host reads documents to find a path. Each of its requests waits for its turn. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openClients } from '../../../src/scanner/clients/open-clients.ts';
import { listCatalogs, loadCatalog } from '../../../src/scanner/engine/catalog/catalog.ts';
import { discoverChecks } from '../../../src/scanner/engine/catalog/discover-checks.ts';
import { createPool } from '../../../src/scanner/engine/judging-pool.ts';
import { allowOrigin, DEFAULT_POLICY, parseOrigin } from '../../../src/scanner/guard/origin.ts';
import type { PreflightEngine } from '../../../src/scanner/preflight/judge-challenge.ts';
import { preflightHost } from '../../../src/scanner/preflight/preflight.ts';
import { LimitReached } from '../../../src/service/turns/origin-turns.ts';
import { type CraftedOptions, startCraftedSeller } from '../../fixtures/origins/crafted-seller.ts';
import { createFreeTurns, openRealClient } from '../../service/turns/turn-clients.ts';

const NOT_FOUND = { status: 404, body: 'none' };
const ANSWER_WITHIN_MS = 20_000;

describe('a bare host', () => {
  const pool = createPool();
  const clients = openClients();
  let engine: PreflightEngine;

  beforeAll(async () => {
    const checks = await discoverChecks();
    const catalog = await loadCatalog((await listCatalogs()).at(-1) ?? '', { checks });
    engine = { catalog, checks, pool, clients };
  });
  afterAll(async () => {
    await pool.close();
    await clients.close();
  });

  async function ask(options: CraftedOptions, beforeConnect = async () => {}) {
    await using seller = await startCraftedSeller(options);
    const policy = allowOrigin(seller.url, DEFAULT_POLICY);
    const origin = parseOrigin(seller.url, policy);
    const turns = createFreeTurns(openRealClient({ policy, userAgent: 'test' }));
    const request = { origin, blocks: new Set(['a block']), beforeConnect };
    const answer = await turns
      .ask(request, (client) =>
        preflightHost(origin, { ...engine, client, answerWithinMs: ANSWER_WITHIN_MS }),
      )
      .catch((error: Error) => ({ path: null, preflight: null, error }));
    const requests = seller.requests.map(({ method, path }) => `${method} ${path}`);
    return { ...answer, requests };
  }

  test('is requested at the first GET path of its manifest', async () => {
    const { preflight, path, requests } = await ask({});
    expect(preflight?.verdict).toBe('go');
    expect(path).toBe('/weather');
    expect(requests).toEqual(['GET /.well-known/x402', 'GET /weather']);
  });

  test('is requested at a GET path of its OpenAPI document if it has no manifest', async () => {
    const { path, requests } = await ask({ answers: { '/.well-known/x402': NOT_FOUND } });
    expect(path).toBe('/weather');
    expect(requests).toEqual(['GET /.well-known/x402', 'GET /openapi.json', 'GET /weather']);
  });

  test('gets no request to a paid path if it has neither document', async () => {
    const answers = { '/.well-known/x402': NOT_FOUND, '/openapi.json': NOT_FOUND };
    const { preflight, path, requests } = await ask({ answers });
    expect(path).toBeNull();
    expect(preflight).toMatchObject({ verdict: 'caution', reasons: [{ code: 'not_asked' }] });
    expect(preflight?.reasons[0]?.evidence).toContain(
      'paste the address of something that the host sells',
    );
    expect(requests).toHaveLength(2);
  });

  test.each([0, 1, 2])(
    'gets only the requests that a limit allows: %d',
    async (allowedRequests) => {
      let requestsLeft = allowedRequests;
      const beforeConnect = async () => {
        if (requestsLeft === 0) throw new LimitReached();
        requestsLeft -= 1;
      };
      const answer = await ask({ answers: { '/.well-known/x402': NOT_FOUND } }, beforeConnect);
      expect(answer).toMatchObject({ preflight: null, error: { name: 'LimitReached' } });
      expect(answer.requests).toHaveLength(allowedRequests);
    },
  );
});
