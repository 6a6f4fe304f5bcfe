/** The fixed paths that every scan asks for, the root before all others. */
import { randomBytes } from 'node:crypto';
import type { HttpObservation, Observations } from '../model/observations.ts';
import type { RequestCache } from './client/request-cache.ts';

const KIB = 1024;
const ROOT_CAP_BYTES = 256 * KIB;
const DOCUMENT_CAP_BYTES = 256 * KIB;
const OPENAPI_CAP_BYTES = 2 * KIB * KIB;
const ROBOTS_CAP_BYTES = 512 * KIB;

/** Sellers send a long page to what looks like a browser: ask for data first, take what comes. */
const ACCEPT_JSON = 'application/json, */*;q=0.5';
const ACCEPT_TEXT = 'text/plain, text/markdown;q=0.9, */*;q=0.5';
const ACCEPT_PAGE = 'text/html, application/json;q=0.9, */*;q=0.5';

export const OPENAPI_ALTERNATES = [
  '/.well-known/openapi.json',
  '/api/openapi.json',
  '/swagger.json',
  '/openapi.yaml',
] as const;

/** Failures that every further request would repeat: no name, no listener, no valid certificate. */
const FINAL_FAILURES: ReadonlySet<string> = new Set([
  'dns',
  'refused',
  'tls-expired',
  'tls-self-signed',
  'tls-wrong-host',
  'tls-unknown-issuer',
  'tls-other',
]);

export type FixedPaths = Pick<
  Observations,
  | 'root'
  | 'soft404'
  | 'openapi'
  | 'openapiAlternates'
  | 'manifest'
  | 'manifestJson'
  | 'llmsTxt'
  | 'agentCard'
  | 'agentJson'
  | 'robots'
>;

export async function askFixedPaths(cache: RequestCache): Promise<FixedPaths> {
  const root = await cache.ask({
    method: 'GET',
    path: '/',
    capBytes: ROOT_CAP_BYTES,
    accept: ACCEPT_PAGE,
    redirects: 'any-guarded',
  });
  const get = (path: string, capBytes: number, accept: string): Promise<HttpObservation> => {
    if (!root.ok && FINAL_FAILURES.has(root.reason)) cache.record('GET', path, root);
    return cache.ask({ method: 'GET', path, capBytes, accept, redirects: 'same-origin' });
  };
  // A path that nobody can have: what the site answers to it, it answers to any missing document.
  const randomPath = `/${randomBytes(12).toString('hex')}`;
  const [
    soft404,
    openapi,
    alternates,
    manifest,
    manifestJson,
    llmsTxt,
    agentCard,
    agentJson,
    robots,
  ] = await Promise.all([
    get(randomPath, DOCUMENT_CAP_BYTES, ACCEPT_JSON),
    get('/openapi.json', OPENAPI_CAP_BYTES, ACCEPT_JSON),
    Promise.all(OPENAPI_ALTERNATES.map((path) => get(path, OPENAPI_CAP_BYTES, ACCEPT_JSON))),
    get('/.well-known/x402', DOCUMENT_CAP_BYTES, ACCEPT_JSON),
    get('/.well-known/x402.json', DOCUMENT_CAP_BYTES, ACCEPT_JSON),
    get('/llms.txt', DOCUMENT_CAP_BYTES, ACCEPT_TEXT),
    get('/.well-known/agent-card.json', DOCUMENT_CAP_BYTES, ACCEPT_JSON),
    get('/.well-known/agent.json', DOCUMENT_CAP_BYTES, ACCEPT_JSON),
    get('/robots.txt', ROBOTS_CAP_BYTES, ACCEPT_TEXT),
  ]);
  const openapiAlternates = OPENAPI_ALTERNATES.flatMap((path, index) => {
    const answer = alternates[index];
    return answer === undefined ? [] : [{ path, answer }];
  });
  return {
    root,
    soft404,
    openapi,
    openapiAlternates,
    manifest,
    manifestJson,
    llmsTxt,
    agentCard,
    agentJson,
    robots,
  };
}
