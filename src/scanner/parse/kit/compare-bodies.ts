/** Compares an answer with the soft-404 answer: the site's answer to a random path. */
import type { HttpData } from '../../model/observation.ts';
import type { HttpObservation } from '../../model/observations.ts';

/** Shorter paths ("/a") occur in many texts by chance, so they are not removed. */
const MIN_PATH_CHARS = 4;
const MAX_COMPARED_CHARS = 64 * 1024;
/** Pages do not repeat a longer path in full, so it is not removed. */
const MAX_REMOVED_PATH_CHARS = 256;

/** Returns true if the two answers are the same page. */
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
