import type { HttpData } from '../../model/observation.ts';
import type { HttpObservation } from '../../model/observations.ts';
import { headerValue } from '../text/http-header.ts';

const HTML_START = /^<(?:!doctype\s+html|html|head|body|title|script|meta|div)[\s>]/i;
const HTML_WITHIN = /<(?:!doctype\s+html|html|head|body)[\s>]/i;
const HTML_TYPE = /^(?:text\/html|application\/xhtml\+xml)\b/i;
const SNIFFED_CHARS = 1_024;
/** Shorter paths ("/a") occur in any text by chance. */
const MIN_PATH_CHARS = 4;
const MAX_COMPARED_CHARS = 64 * 1024;
/** No page repeats a longer path whole. */
const MAX_SPELLING_CHARS = 256;

/**
 * Returns true for a page for people. The body decides: JSON and Markdown under `text/html` keep their
 * kind. Without a body (HEAD) only the type is known.
 */
export function isHtmlAnswer(answer: HttpObservation): boolean {
  if (!answer.ok) return false;
  const start = answer.data.body.slice(0, SNIFFED_CHARS).trimStart();
  const isTyped = HTML_TYPE.test(headerValue(answer.data, 'content-type') ?? '');
  if (start === '') return isTyped;
  if (HTML_START.test(start)) return true;
  return isTyped && (start.startsWith('<') || HTML_WITHIN.test(start));
}

/** Returns true when an answer equals the site's page for missing paths. */
export type BodyComparison = (answer: HttpObservation, soft404: HttpObservation) => boolean;

/**
 * The status comes first: a site that answers real errors has no soft 404, whatever its body. Pages
 * repeat the requested path, so it is removed from both bodies, once an answer. Only the beginning is
 * compared: searching a body for a path, both written by the origin, takes time in proportion to their
 * product.
 */
export function createBodyComparison(): BodyComparison {
  const known = new WeakMap<HttpData, string>();
  const beginning = (data: HttpData): string => {
    const before = known.get(data);
    if (before !== undefined) return before;
    const without = withoutPath(data);
    known.set(data, without);
    return without;
  };

  return (answer, soft404) => {
    if (!answer.ok || !soft404.ok) return false;
    const [one, other] = [answer.data, soft404.data];
    if (!isSuccess(one) || !isSuccess(other)) return false;
    if (one.body === other.body) return true;
    if (isLong(one) !== isLong(other)) return false;
    // Removing paths of different lengths shifts the ends of equally cut bodies.
    const chars = isLong(one)
      ? Math.min(beginning(one).length, beginning(other).length)
      : undefined;
    return beginning(one).slice(0, chars) === beginning(other).slice(0, chars);
  };
}

function isLong({ body }: HttpData): boolean {
  return body.length > MAX_COMPARED_CHARS;
}

function isSuccess({ status }: HttpData): boolean {
  return status >= 200 && status < 300;
}

function withoutPath({ body, url, redirects }: HttpData): string {
  let rest = body.slice(0, MAX_COMPARED_CHARS);
  for (const spelling of new Set([redirects[0]?.url, url].flatMap(listSpellings))) {
    if (spelling.length <= MAX_SPELLING_CHARS) rest = rest.replaceAll(spelling, '');
  }
  return rest;
}

/** Lists a path's spellings: plain, as a query value ("?next=…"), and in JSON written by PHP. */
function listSpellings(address: string | undefined): readonly string[] {
  const url = URL.parse(address ?? '');
  if (url === null) return [];
  const path = (url.pathname + url.search).replace(/^\//, '');
  if (path.length < MIN_PATH_CHARS) return [];
  return [path, encodeURIComponent(path), path.replaceAll('/', '\\/')];
}
