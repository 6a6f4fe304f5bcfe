/** S9: a caller who knows only the host finds a discovery document from the root. Rule: README.md. */
import { defineCheck, fail, pass, passageFix, warn } from '#check';
import type { Kit } from '#kit';
import type { HttpData } from '#model';
import type { JsonValue } from '#parse/json';

/** Matches the paths of discovery documents; README.md lists them. */
const DOCUMENT_PATH =
  /^\/(?:(?:[\w.-]+\/)*(?:openapi|swagger)(?:\.[\w-]+)*\.(?:json|ya?ml)|llms(?:-full)?\.txt|\.well-known\/(?:x402(?:\.json)?|agent(?:-card)?\.json|openapi\.json|api-catalog)|(?:x402-)?discovery(?:\.json)?)$/i;
/** Matches a text in JSON that is an address, not a word: an absolute URL, a path, or the name of a file. */
const ADDRESS = /^(?:(?:https?:\/\/|\/|\.)|[\w./-]+\.(?:json|ya?ml|txt)$)/i;
const LOGIN_STATUSES: ReadonlySet<number> = new Set([401, 403]);
/** Bounds the processor time for a root that is a long JSON document. */
const MAX_STRINGS = 500;

const FIX =
  'Answer GET / with 200 and name /openapi.json or /llms.txt: an anchor, a Link header or JSON.';

const KEEP_FIX = 'Keep naming a discovery document on the root.';

const OUTCOMES = {
  unreadable: fail(FIX),
  redirect: warn(FIX),
  login: warn(FIX),
  error: fail(FIX),
  'no-pointer': warn(FIX),
  'redirect-to-document': pass(KEEP_FIX),
  pointer: pass(KEEP_FIX),
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
    const target = data.redirects[0]?.location ?? data.refusedRedirect?.to;
    // The scan follows redirects within the origin, so `data.url` is where the last of them leads.
    const isElsewhere = target !== undefined && findDocument(data.url, origin.url, kit) === null;
    if (isElsewhere) {
      return [
        'redirect',
        `GET / redirects to ${kit.quote(target)}, which is not a discovery document here`,
      ];
    }
    if (LOGIN_STATUSES.has(data.status))
      return ['login', `GET /: ${data.status}`, passageFix('/', data.status)];
    if (data.status < 200 || data.status > 299) return ['error', `GET /: ${data.status}`];
    if (target !== undefined) {
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
  for (const reference of [...listLinkHeaders(data, kit), ...listReferences(data, kit)]) {
    const path = findDocument(reference, originUrl, kit);
    if (path !== null) return path;
  }
  return null;
}

/** Reads the targets of headers such as `Link: </openapi.json>; rel="service-desc"` (RFC 8288). */
function listLinkHeaders(data: HttpData, kit: Kit): readonly string[] {
  return kit
    .headers(data, 'link')
    .flatMap((value) => Array.from(value.matchAll(/<([^<>]*)>/g), ([, url = '']) => url));
}

/** Lists the addresses in the body, which may be JSON, HTML or Markdown. */
function listReferences(data: HttpData, kit: Kit): readonly string[] {
  const json = kit.json(data.body);
  if (json.ok) return listStrings(json.value).filter((text) => ADDRESS.test(text));
  const { anchors, links } = kit.html(data.body);
  return [...anchors, ...links.map((link) => link.href), ...kit.markdown(data.body).links];
}

/** Visits objects and lists breadth first, because a pointer stands near the top. */
function listStrings(value: JsonValue): readonly string[] {
  const texts: string[] = [];
  const queue: (JsonValue | undefined)[] = [value];
  for (let index = 0; index < queue.length && texts.length < MAX_STRINGS; index += 1) {
    const next = queue[index];
    if (typeof next === 'string') texts.push(next);
    else if (typeof next === 'object' && next !== null) {
      for (const member of Object.values(next)) queue.push(member);
    }
  }
  return texts;
}

/** Returns the path if the reference is a discovery document of this origin, else null. */
function findDocument(reference: string, originUrl: string, kit: Kit): string | null {
  const path = kit.sameOrigin(originUrl, reference)?.pathname ?? '';
  return DOCUMENT_PATH.test(path) ? path : null;
}
