/** S9: a caller who knows only the host finds a discovery document from the root. Rule: README.md. */
import { defineCheck, fail, pass, warn } from '../../src/engine/define-check.ts';
import type { HttpData } from '../../src/model/observation.ts';
import type { JsonValue } from '../../src/parse/json/json.ts';
import type { Kit } from '../../src/parse/kit/kit.ts';

/** Documents that tell a machine where to read on. */
const DOCUMENT =
  /^\/(?:(?:[\w.-]+\/)*(?:openapi|swagger)(?:\.[\w-]+)*\.(?:json|ya?ml)|llms(?:-full)?\.txt|\.well-known\/(?:x402(?:\.json)?|agent(?:-card)?\.json|openapi\.json|api-catalog)|(?:x402-)?discovery(?:\.json)?)$/i;
/** A text in JSON that is an address rather than a word: absolute, or a path that ends like a file. */
const ADDRESS = /^(?:(?:https?:\/\/|\/|\.)|[\w./-]+\.(?:json|ya?ml|txt)$)/i;
const AUTHENTICATION: ReadonlySet<number> = new Set([401, 403]);
const MAX_STRINGS = 500;

const FIX =
  'Answer GET / with 200 and name /openapi.json or /llms.txt: an anchor, a Link header or JSON.';

const KEEP = 'Keep naming a discovery document on the root.';

const OUTCOMES = {
  unreadable: fail(FIX),
  redirect: warn(FIX),
  login: warn(FIX),
  error: fail(FIX),
  'no-pointer': warn(FIX),
  'redirect-to-document': pass(KEEP),
  pointer: pass(KEEP),
};

export default defineCheck({
  id: 'S9',
  version: 1,
  says: {
    right: 'The root leads to a discovery document.',
    wrong: 'The root does not lead to a discovery document.',
    unjudged: 'It is not known whether the root leads to a discovery document.',
  },
  needs: ['origin', 'root'],
  requires: ['P1'],
  outcomes: OUTCOMES,

  evaluate({ origin, root }, kit) {
    if (!root.ok) return ['unreadable', kit.failure('GET /', root)];
    const { data } = root;
    const first = data.redirects[0]?.location ?? data.refusedRedirect?.to;
    const isElsewhere = first !== undefined && documentAt(data.url, origin.url, kit) === null;
    if (isElsewhere) {
      return [
        'redirect',
        `GET / redirects to ${kit.quote(first)}, which is not a discovery document here`,
      ];
    }
    if (AUTHENTICATION.has(data.status)) return ['login', `GET /: ${data.status}`];
    if (data.status < 200 || data.status > 299) return ['error', `GET /: ${data.status}`];
    if (first !== undefined) {
      const path = new URL(data.url).pathname;
      return ['redirect-to-document', `GET / redirects to ${kit.quote(path)}`];
    }
    const pointer = findPointer(data, origin.url, kit);
    if (pointer === null)
      return ['no-pointer', `GET / answers ${data.status} and names no discovery document`];
    return ['pointer', `GET / answers ${data.status} and names ${kit.quote(pointer)}`];
  },
});

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
    .flatMap((value) => Array.from(value.matchAll(/<([^<>]*)>/g), ([, target = '']) => target));
}

function references(data: HttpData, kit: Kit): readonly string[] {
  const json = kit.json(data.body);
  if (json.ok) return stringsIn(json.value).filter((text) => ADDRESS.test(text));
  const { anchors, links } = kit.html(data.body);
  return [...anchors, ...links.map((link) => link.href), ...kit.markdown(data.body).links];
}

function stringsIn(value: JsonValue): readonly string[] {
  const texts: string[] = [];
  const queue: (JsonValue | undefined)[] = [value];
  for (let at = 0; at < queue.length && texts.length < MAX_STRINGS; at += 1) {
    const next = queue[at];
    if (typeof next === 'string') texts.push(next);
    else if (typeof next === 'object' && next !== null) {
      for (const member of Object.values(next)) queue.push(member);
    }
  }
  return texts;
}

/** The path of a discovery document of this origin; null for other references. */
function documentAt(reference: string, originUrl: string, kit: Kit): string | null {
  const path = kit.sameOrigin(originUrl, reference)?.pathname ?? '';
  return DOCUMENT.test(path) ? path : null;
}
