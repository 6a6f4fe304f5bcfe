import type { FailedObservation, HttpData } from '../../model/observation.ts';
import type { HttpObservation } from '../../model/observations.ts';
import type { JsonReading } from '../json/json.ts';
import {
  cannotBecomeJson,
  describeBodyLimit,
  isJsonPath,
  isReadInPart,
  keepWholeLines,
} from '../text/document-limits.ts';
import { headerValue } from '../text/http-header.ts';
import { quoteText } from '../text/text.ts';
import { isNoAnswer } from '../x402/resource-answers.ts';

/** The classified answer at a document's path. */
export type DocumentReading =
  | { readonly state: 'absent'; readonly status: number; readonly evidence: string }
  /** The body is longer than we read. */
  | { readonly state: 'over-limit'; readonly evidence: string }
  /** `rate-limited`: the answer is a 429, or our politeness kept the request back. */
  | {
      readonly state: 'unreadable' | 'rate-limited' | 'soft-404' | 'html';
      readonly evidence: string;
    }
  | {
      readonly state: 'present';
      readonly path: string;
      readonly answer: HttpData;
      readonly body: string;
    };

/** The classified answer at the path of a text, whose start is read if the text is too long. */
export type TextReading = Exclude<DocumentReading, { readonly state: 'over-limit' }>;

export type DocumentReader = (
  path: string,
  answer: HttpObservation,
  soft404: HttpObservation,
) => DocumentReading;

const MAX_REDIRECT_CHARS = 100;

/**
 * Classifies the answer at a document's path. If a text is too long, its whole lines are read. A body that is too long
 * and not JSON is not a document.
 */
export function readDocument(
  path: string,
  answer: HttpObservation,
  soft404: HttpObservation,
  isSameBody: BodyComparison,
): DocumentReading {
  const reading = readText(path, answer, soft404, isSameBody);
  const isCut = reading.state === 'present' && answer.ok && answer.truncated;
  if (!isCut || isReadInPart(path)) return reading;
  // The rest of such a body could not make it JSON, so the limit hides nothing.
  const { body } = reading.answer;
  if (isJsonPath(path) && cannotBecomeJson(body)) return { ...reading, body };
  return { state: 'over-limit', evidence: `GET ${path}: 200, but ${describeBodyLimit(path)}` };
}

/** Returns the first state that applies, in the order of the statements below. */
export function readText(
  path: string,
  answer: HttpObservation,
  soft404: HttpObservation,
  isSameBody: BodyComparison,
): TextReading {
  const request = `GET ${path}`;
  if (!answer.ok) {
    const state = isNoAnswer(answer) ? 'rate-limited' : 'unreadable';
    return { state, evidence: formatFailure(request, answer) };
  }
  const { data } = answer;
  if (isNoAnswer(answer)) return { state: 'rate-limited', evidence: `${request}: ${data.status}` };
  if (data.status !== 200) {
    return { state: 'absent', status: data.status, evidence: `${request}: ${formatStatus(data)}` };
  }
  // This comes before the soft-404 comparison, because two incomplete bodies may be equal by chance.
  if (data.bodyFailure !== undefined) {
    const evidence = `${request}: 200, but the body broke off (${data.bodyFailure})`;
    return { state: 'unreadable', evidence };
  }
  if (isSameBody(answer, soft404)) {
    return { state: 'soft-404', evidence: `${request}: 200, the same page as for a random path` };
  }
  if (isHtmlAnswer(answer)) return { state: 'html', evidence: `${request}: 200, but HTML` };
  if (data.binary) return { state: 'unreadable', evidence: `${request}: 200, but no text` };
  const body = answer.truncated ? keepWholeLines(data.body) : data.body;
  return { state: 'present', path, answer: data, body };
}

/** Returns the reason why a reading gives no JSON document, or `jsonFault` for a JSON document of another kind. */
export function describeUnusable(
  reading: DocumentReading,
  json: (body: string) => JsonReading,
  jsonFault: string,
): string {
  if (reading.state !== 'present') return reading.evidence;
  const parsed = json(reading.body);
  return `GET ${reading.path}: 200, ${parsed.ok ? jsonFault : parsed.detail}`;
}

/** Formats "GET /llms.txt: timeout (no answer within 10 s)". */
export function formatFailure(request: string, { reason, detail }: FailedObservation): string {
  return `${request}: ${reason} (${detail})`;
}

function formatStatus({ status, refusedRedirect }: HttpData): string {
  if (refusedRedirect === undefined) return String(status);
  const { to, why } = refusedRedirect;
  return `${status} to ${quoteText(to, MAX_REDIRECT_CHARS)}, not followed: ${why}`;
}

const HTML_AT_START = /^<(?:!doctype\s+html|html|head|body|title|script|meta|div)[\s>]/i;
const HTML_ANYWHERE = /<(?:!doctype\s+html|html|head|body)[\s>]/i;
const HTML_CONTENT_TYPE = /^(?:text\/html|application\/xhtml\+xml)\b/i;
const MAX_SNIFFED_CHARS = 1_024;

/**
 * Returns true for an HTML page. The body decides: JSON or Markdown with the type `text/html` is not HTML. An answer
 * without a body (HEAD) is judged by its type.
 */
export function isHtmlAnswer(answer: HttpObservation): boolean {
  if (!answer.ok) return false;
  const start = answer.data.body.slice(0, MAX_SNIFFED_CHARS).trimStart();
  const hasHtmlType = HTML_CONTENT_TYPE.test(headerValue(answer.data, 'content-type') ?? '');
  if (start === '') return hasHtmlType;
  if (HTML_AT_START.test(start)) return true;
  return hasHtmlType && (start.startsWith('<') || HTML_ANYWHERE.test(start));
}

/** Shorter paths ("/a") occur in many texts by chance, so they are not removed. */
const MIN_PATH_CHARS = 4;
const MAX_COMPARED_CHARS = 64 * 1024;
/** Pages do not repeat a longer path in full, so it is not removed. */
const MAX_REMOVED_PATH_CHARS = 256;

/** Returns true if an answer equals the soft-404 answer: the site's answer to a random path. */
export type BodyComparison = (answer: HttpObservation, soft404: HttpObservation) => boolean;

/**
 * Only two answers with a status of 2xx can be equal: an error status is not a soft 404. Pages repeat the requested
 * path, so the path is removed from both bodies. Only the first MAX_COMPARED_CHARS of a body are compared, because the
 * time of a search for a path grows with the length of the body times the length of the path.
 */
export function createBodyComparison(): BodyComparison {
  const comparedTexts = new WeakMap<HttpData, string>();
  const toComparedText = (data: HttpData): string => {
    const text = comparedTexts.get(data) ?? removePath(data);
    comparedTexts.set(data, text);
    return text;
  };

  return (answer, soft404) => {
    if (!answer.ok || !soft404.ok) return false;
    const [left, right] = [answer.data, soft404.data];
    if (!isSuccess(left) || !isSuccess(right)) return false;
    if (left.body === right.body) return true;
    if (isLong(left) !== isLong(right)) return false;
    const [leftText, rightText] = [toComparedText(left), toComparedText(right)];
    // Long bodies were cut at the same length. The removed paths have different lengths, so the texts differ in length.
    const chars = isLong(left) ? Math.min(leftText.length, rightText.length) : undefined;
    return leftText.slice(0, chars) === rightText.slice(0, chars);
  };
}

function isLong({ body }: HttpData): boolean {
  return body.length > MAX_COMPARED_CHARS;
}

function isSuccess({ status }: HttpData): boolean {
  return status >= 200 && status < 300;
}

function removePath({ body, url, redirects }: HttpData): string {
  let text = body.slice(0, MAX_COMPARED_CHARS);
  for (const spelling of new Set([redirects[0]?.url, url].flatMap(listSpellings))) {
    if (spelling.length <= MAX_REMOVED_PATH_CHARS) text = text.replaceAll(spelling, '');
  }
  return text;
}

/** Lists a path's spellings: plain, as a query value ("?next=…"), and in JSON written by PHP. */
function listSpellings(address: string | undefined): readonly string[] {
  const url = URL.parse(address ?? '');
  if (url === null) return [];
  const path = (url.pathname + url.search).replace(/^\//, '');
  if (path.length < MIN_PATH_CHARS) return [];
  return [path, encodeURIComponent(path), path.replaceAll('/', '\\/')];
}
