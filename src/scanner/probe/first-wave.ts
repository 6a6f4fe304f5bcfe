/** The fixed paths that every scan asks for, the root before all others. */

import { randomBytes } from 'node:crypto';
import { TLS_FAILURES } from '../model/observation.ts';
import type { HttpObservation, PathAnswer } from '../model/observations.ts';
import { findSharedBytes } from '../parse/json/transfer.ts';
import { findBodyLimit, isJsonPath, isYamlPath } from '../parse/text/document-limits.ts';
import { ACCEPT_JSON, type RequestCache } from './client/request-cache.ts';

const KIB = 1024;
const ROOT_CAP_BYTES = 256 * KIB;

const ACCEPT_TEXT = 'text/plain, text/markdown;q=0.9, */*;q=0.5';
const ACCEPT_PAGE = 'text/html, application/json;q=0.9, */*;q=0.5';

export const OPENAPI_ALTERNATES = [
  '/.well-known/openapi.json',
  '/api/openapi.json',
  '/swagger.json',
  '/openapi.yaml',
  '/openapi.yml',
] as const;

/** Failures that every further request would repeat: no name, no listener, no valid certificate. */
const FINAL_FAILURES: ReadonlySet<string> = new Set(['dns', 'refused', ...TLS_FAILURES]);

export type FixedPaths = Awaited<ReturnType<typeof askFixedPaths>>;

/** Asks one path, after the root has answered. */
type GetPath = (path: string, accept: string) => Promise<HttpObservation>;

export async function askFixedPaths(cache: RequestCache) {
  const root = await cache.ask({
    method: 'GET',
    path: '/',
    capBytes: ROOT_CAP_BYTES,
    accept: ACCEPT_PAGE,
    redirects: 'any-guarded',
    isFirstOfMany: true,
  });
  const get = createGet(root, cache);
  // No site has this path, so its answer shows how the site answers for a missing document.
  const randomPath = `/${randomBytes(12).toString('hex')}`;
  const pendingOpenapi = get('/openapi.json', ACCEPT_JSON);
  const [
    manifest,
    manifestJson,
    llmsTxt,
    agentCard,
    agentJson,
    robots,
    soft404,
    openapi,
    openapiAlternates,
  ] = await Promise.all([
    get('/.well-known/x402', ACCEPT_JSON),
    get('/.well-known/x402.json', ACCEPT_JSON),
    get('/llms.txt', ACCEPT_TEXT),
    get('/.well-known/agent-card.json', ACCEPT_JSON),
    get('/.well-known/agent.json', ACCEPT_JSON),
    get('/robots.txt', ACCEPT_TEXT),
    get(randomPath, ACCEPT_JSON),
    pendingOpenapi,
    askAlternates(pendingOpenapi, get),
  ]);
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

/** Asks the paths in sequence until one has an OpenAPI document. Five answers at once could hold 8 MiB each. */
async function askAlternates(
  canonical: Promise<HttpObservation>,
  get: GetPath,
): Promise<readonly PathAnswer[]> {
  const answers: PathAnswer[] = [];
  let answer = await canonical;
  for (const path of OPENAPI_ALTERNATES) {
    if (looksLikeOpenApi(answer)) break;
    answer = await get(path, ACCEPT_JSON);
    answers.push({ path, answer });
  }
  return answers;
}

const OPENAPI_NAME = '"openapi"';
const OPENAPI_VALUE = /^\s*:\s*"3\./;
/** Bounds the time on the serving thread. In a document the version stands before most other texts. */
const MAX_OPENAPI_NAMES = 100;
/** Bytes that are read after `OPENAPI_NAME`, and at the end of the document. */
const EXCERPT_BYTES = 256;
const YAML_MEMBER = /^["']?openapi["']?[ \t]*:[ \t]*\S/m;
const MAX_YAML_CHARS = 65_536;

/** Searches bytes and parses nothing, because only a thread that can be killed may parse. */
function looksLikeOpenApi(answer: HttpObservation): boolean {
  if (!answer.ok || answer.truncated || answer.data.status !== 200) return false;
  if (isYamlPath(new URL(answer.data.url).pathname)) {
    return YAML_MEMBER.test(answer.data.body.slice(0, MAX_YAML_CHARS));
  }
  const bytes = findSharedBytes(answer.data, 'body') ?? Buffer.from(answer.data.body);
  const end = bytes.toString('utf8', bytes.length - EXCERPT_BYTES).trimEnd();
  if (!end.endsWith('}') || !bytes.includes('"paths"')) return false;
  let position = bytes.indexOf(OPENAPI_NAME);
  for (let count = 0; position !== -1 && count < MAX_OPENAPI_NAMES; count += 1) {
    const from = position + OPENAPI_NAME.length;
    if (OPENAPI_VALUE.test(bytes.toString('latin1', from, from + EXCERPT_BYTES))) return true;
    position = bytes.indexOf(OPENAPI_NAME, from);
  }
  return false;
}

function createGet(root: HttpObservation, cache: RequestCache): GetPath {
  const get: GetPath = (path, accept) =>
    cache.ask({
      method: 'GET',
      path,
      capBytes: findBodyLimit(path),
      expectsJson: isJsonPath(path),
      accept,
      redirects: 'same-origin',
    });
  if (root.ok) return get;
  if (FINAL_FAILURES.has(root.reason)) {
    return (path, accept) => {
      // `get` then returns this failure without a request.
      cache.record('GET', path, root);
      return get(path, accept);
    };
  }
  return hasTimedOut(root) ? askOneByOne(get, cache) : get;
}

const MAX_TIMEOUTS = 2;
const NOT_ASKED: HttpObservation = {
  ok: false,
  reason: 'timeout',
  detail: 'not asked, as the root and another path were silent',
  ms: 0,
};

/**
 * Used if the root timed out. Each timeout costs the scan much time, so only one path is asked at a time,
 * and no path after the second timeout.
 */
function askOneByOne(get: GetPath, cache: RequestCache): GetPath {
  let previous: Promise<unknown> = Promise.resolve();
  let timeouts = 1;
  return (path, accept) => {
    const pending = previous.then(async () => {
      if (timeouts >= MAX_TIMEOUTS) cache.record('GET', path, NOT_ASKED);
      const answer = await get(path, accept);
      if (hasTimedOut(answer)) timeouts += 1;
      return answer;
    });
    previous = pending.catch(() => undefined);
    return pending;
  };
}

function hasTimedOut(answer: HttpObservation): boolean {
  return !answer.ok && answer.reason === 'timeout';
}
