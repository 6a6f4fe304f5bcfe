/** What an answer's body is, before anything is parsed: HTML, or the page that stands for a 404. */

import type { HttpData } from '../../model/observation.ts';
import type { HttpObservation } from '../../model/observations.ts';
import { headerValue } from '../text/http-header.ts';

const HTML_START = /^<(?:!doctype\s+html|html|head|body|title|script|meta|div)[\s>]/i;
const HTML_WITHIN = /<(?:!doctype\s+html|html|head|body)[\s>]/i;
const HTML_TYPE = /^(?:text\/html|application\/xhtml\+xml)\b/i;
const SNIFFED_CHARS = 1_024;
/** A path shorter than this ("/a") stands in any text for many other reasons. */
const MIN_PATH_CHARS = 4;

/**
 * Whether a page for people was sent. The body decides, not the type alone: JSON and Markdown under
 * `text/html` are still what they are. Without a body (HEAD) the type is all there is.
 */
export function isHtmlAnswer(answer: HttpObservation): boolean {
  if (!answer.ok) return false;
  const start = answer.data.body.slice(0, SNIFFED_CHARS).trimStart();
  const isTyped = HTML_TYPE.test(headerValue(answer.data, 'content-type') ?? '');
  if (start === '') return isTyped;
  if (HTML_START.test(start)) return true;
  return isTyped && (start.startsWith('<') || HTML_WITHIN.test(start));
}

/**
 * Whether an answer is the one that this site gives to any path. The status comes first: a site
 * with real error answers has no such page, whatever its body. Pages repeat the path that was asked
 * for, so it is taken out of both.
 */
export function isSameBody(answer: HttpObservation, soft404: HttpObservation): boolean {
  if (!answer.ok || !soft404.ok) return false;
  if (!isSuccess(answer.data) || !isSuccess(soft404.data)) return false;
  const [body, other] = [answer.data.body, soft404.data.body];
  return body === other || withoutPath(answer.data) === withoutPath(soft404.data);
}

function isSuccess({ status }: HttpData): boolean {
  return status >= 200 && status < 300;
}

function withoutPath({ body, url, redirects }: HttpData): string {
  let rest = body;
  for (const address of [redirects[0]?.url, url]) {
    if (address === undefined || !URL.canParse(address)) continue;
    const { pathname, search } = new URL(address);
    const path = (pathname + search).replace(/^\//, '');
    if (path.length < MIN_PATH_CHARS) continue;
    for (const spelling of spellingsOf(path)) rest = rest.replaceAll(spelling, '');
  }
  return rest;
}

/** Plain, as a query ("?next=…") has it, and as PHP writes it into JSON. */
function spellingsOf(path: string): readonly string[] {
  return [path, encodeURIComponent(path), path.replaceAll('/', '\\/')];
}
