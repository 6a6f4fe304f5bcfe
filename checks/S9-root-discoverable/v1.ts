/** S9: who knows nothing but the host finds a discovery document from the root. Rule: README.md. */
import { defineCheck } from '../../src/engine/define-check.ts';
import type { HttpData } from '../../src/model/observation.ts';
import { fail, pass, warn } from '../../src/model/verdict.ts';
import type { JsonValue } from '../../src/parse/json/json.ts';
import type { Kit } from '../../src/parse/kit/kit.ts';

/** Documents by which a machine reads on. */
const DOCUMENT =
  /^\/(?:(?:[\w.-]+\/)*(?:openapi|swagger)(?:\.[\w-]+)*\.(?:json|ya?ml)|llms(?:-full)?\.txt|\.well-known\/(?:x402(?:\.json)?|agent(?:-card)?\.json|openapi\.json|api-catalog)|(?:x402-)?discovery(?:\.json)?)$/i;
const AUTHENTICATION: ReadonlySet<number> = new Set([401, 403]);
const MAX_STRINGS = 500;

const FIX =
  'Answer GET / with 200 and name /openapi.json or /llms.txt: an anchor, a Link header or JSON.';

export default defineCheck({
  id: 'S9',
  version: 1,
  needs: ['origin', 'root'],
  requires: ['P1'],
  outcomes: [
    'unreadable',
    'redirect',
    'login',
    'error',
    'no-pointer',
    'redirect-to-document',
    'pointer',
  ],

  evaluate({ origin, root }, kit) {
    if (!root.ok) return fail('unreadable', kit.failure('GET /', root), FIX);
    const { data } = root;
    const first = data.redirects[0]?.location ?? data.refusedRedirect?.to;
    const isElsewhere = first !== undefined && documentAt(data.url, origin.url, kit) === null;
    if (isElsewhere) {
      return warn('redirect', `GET /: redirect to ${kit.quote(first)}, no document here`, FIX);
    }
    if (AUTHENTICATION.has(data.status)) return warn('login', `GET /: ${data.status}`, FIX);
    if (data.status < 200 || data.status > 299) return fail('error', `GET /: ${data.status}`, FIX);
    if (first !== undefined) {
      const path = new URL(data.url).pathname;
      return pass('redirect-to-document', `GET /: redirect to ${kit.quote(path)}`, KEEP);
    }
    const pointer = findPointer(data, origin.url, kit);
    if (pointer === null) return warn('no-pointer', 'GET /: 200, names no discovery document', FIX);
    return pass('pointer', `GET /: 200, names ${kit.quote(pointer)}`, KEEP);
  },
});

const KEEP = 'Keep naming a discovery document on the root.';

function findPointer(data: HttpData, originUrl: string, kit: Kit): string | null {
  for (const reference of [...linkHeaders(data, kit), ...references(data, kit)]) {
    const path = documentAt(reference, originUrl, kit);
    if (path !== null) return path;
  }
  return null;
}

/** `Link: </openapi.json>; rel="service-desc"` (RFC 8288). */
function linkHeaders(data: HttpData, kit: Kit): readonly string[] {
  return kit
    .headers(data, 'link')
    .flatMap((value) => value.split(','))
    .flatMap((part) => /<([^<>]*)>/.exec(part)?.[1] ?? []);
}

function references(data: HttpData, kit: Kit): readonly string[] {
  const json = kit.json(data.body);
  if (json.ok) return stringsIn(json.value);
  const { anchors, links } = kit.html(data.body);
  return [...anchors, ...links.map((link) => link.href), ...kit.markdown(data.body).links];
}

function stringsIn(value: JsonValue): readonly string[] {
  const found: string[] = [];
  const queue: (JsonValue | undefined)[] = [value];
  while (queue.length > 0 && found.length < MAX_STRINGS) {
    const next = queue.shift();
    if (typeof next === 'string') found.push(next);
    else if (typeof next === 'object' && next !== null) queue.push(...Object.values(next));
  }
  return found;
}

/** The path of a discovery document of this origin; null for all else. */
function documentAt(reference: string, originUrl: string, kit: Kit): string | null {
  if (
    !/^(?:https?:\/\/|\/|\.)/i.test(reference) &&
    !/^[\w.-]+\.(?:json|ya?ml|txt)$/i.test(reference)
  ) {
    return null;
  }
  const path = kit.sameOrigin(originUrl, reference)?.pathname ?? '';
  return DOCUMENT.test(path) ? path : null;
}
