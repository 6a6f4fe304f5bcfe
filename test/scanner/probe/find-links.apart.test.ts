import { describe, expect, test } from 'vitest';
import type { Observations } from '../../../src/scanner/model/observations.ts';
import { createKit } from '../../../src/scanner/parse/kit/kit.ts';
import { findLinks } from '../../../src/scanner/probe/plan/find-links.ts';
import {
  agentCard,
  answer,
  freeOperation,
  NOT_FOUND,
  ORIGIN,
  openApiDocument,
  perfectSeller,
} from '../../fixtures/observations/build-observations.ts';

const NO_DOCUMENTS = {
  openapi: NOT_FOUND,
  openapiAlternates: [],
  manifest: NOT_FOUND,
  manifestJson: NOT_FOUND,
  llmsTxt: NOT_FOUND,
  agentCard: NOT_FOUND,
  agentJson: NOT_FOUND,
};

/** The requests for the links of a seller that has only these documents: "GET /docs". */
function listLinks(documents: Partial<Observations>): readonly string[] {
  const { links } = findLinks({ ...perfectSeller(), ...NO_DOCUMENTS, ...documents }, createKit());
  return links.map(({ method, path }) => `${method} ${path}`);
}

const toLlmsTxt = (...lines: readonly string[]) => answer(200, `# Seller\n\n${lines.join('\n')}\n`);
const SOLD = { resource: `${ORIGIN}/weather`, method: 'GET' };

describe('the links that a scan asks', () => {
  test('exclude the address of an A2A card and of its interfaces', () => {
    const card = agentCard({
      url: `${ORIGIN}/a2a`,
      supportedInterfaces: [
        { url: `${ORIGIN}/rpc/v1`, protocolBinding: 'JSONRPC' },
        { url: `${ORIGIN}/rest`, protocolBinding: 'HTTP+JSON' },
      ],
      additionalInterfaces: [{ url: `${ORIGIN}/grpc`, transport: 'GRPC' }],
      documentationUrl: `${ORIGIN}/docs`,
      provider: { organization: 'Seller', url: `${ORIGIN}/about` },
    });
    expect(listLinks({ agentCard: answer(200, card) })).toEqual(['GET /docs', 'GET /about']);
  });

  test('exclude members that are named like endpoints, and their own address members', () => {
    const manifest = {
      x402Version: 2,
      resources: [SOLD],
      callback_url: '/callback',
      webhookUrl: '/hooks',
      jsonRpcUrl: '/rpc',
      mcp_url: '/mcp',
      mcpServers: { weather: { url: '/mcp/weather' } },
      webhooks: [{ href: '/hooks/2', docs: '/docs/hooks' }],
      auth: { token_url: '/token', tokenUrl: '/token/2', authorizationUrl: '/login' },
      website: '/site',
    };
    expect(listLinks({ manifest: answer(200, manifest) })).toEqual([
      'GET /weather',
      'GET /docs/hooks',
      'GET /login',
      'GET /site',
    ]);
  });

  test('exclude templates, also in the notation of routers', () => {
    const endpoints = ['/users/{id}', '/users/:id', '/blog/[slug]/x', '/time/10:30'];
    const manifest = { endpoints: endpoints.map((path) => ({ path, method: 'GET' })) };
    expect(listLinks({ manifest: answer(200, manifest) })).toEqual(['GET /time/10:30']);
  });

  test('exclude list items of llms.txt that name a method other than GET', () => {
    const llmsTxt = toLlmsTxt(
      '- [POST /verify](/verify): checks an address',
      '- [Quote](/quote): GET, one city',
      '- [Docs](/docs): how to post a job',
    );
    expect(listLinks({ llmsTxt })).toEqual(['GET /quote', 'GET /docs']);
  });

  test('exclude an endpoint in every document that names its address', () => {
    const documents = {
      llmsTxt: toLlmsTxt('- [Agent](/a2a)', '- [Docs](/docs)'),
      agentCard: answer(200, agentCard({ url: `${ORIGIN}/a2a` })),
    };
    expect(listLinks(documents)).toEqual(['GET /docs']);
  });

  test('include a POST of the manifest that llms.txt calls too, because no GET is sent', () => {
    const documents = {
      llmsTxt: toLlmsTxt('- [Verify](/verify): POST'),
      manifest: answer(200, { resources: [{ resource: `${ORIGIN}/verify`, method: 'POST' }] }),
    };
    expect(listLinks(documents)).toEqual(['POST /verify']);
  });

  test('include servers of OpenAPI, also at the address of an endpoint', () => {
    const openapi = openApiDocument({
      servers: [{ url: `${ORIGIN}/a2a` }],
      paths: { '/health': { get: freeOperation() } },
    });
    const documents = {
      openapi: answer(200, openapi),
      agentCard: answer(200, agentCard({ url: `${ORIGIN}/a2a` })),
    };
    expect(listLinks(documents)).toEqual(['GET /a2a']);
  });

  test('exclude the base address of a manifest, and include its other addresses', () => {
    const manifest = {
      url: ORIGIN,
      base_url: `${ORIGIN}/api`,
      service: { url: `${ORIGIN}/v1`, serviceBaseUrl: `${ORIGIN}/v2` },
      provider: { url: `${ORIGIN}/about` },
      resources: [SOLD],
    };
    expect(listLinks({ manifest: answer(200, manifest) })).toEqual(['GET /weather', 'GET /about']);
  });
});
