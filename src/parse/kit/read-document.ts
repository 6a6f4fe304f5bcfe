/** A document at a fixed path, or why there is none: absent, soft 404, HTML, oversize. */
import type { Failed, HttpData } from '../../model/observation.ts';
import type { HttpObservation } from '../../model/observations.ts';
import { quoteText } from '../text/text.ts';
import { type BodyComparison, isHtmlAnswer } from './answer-body.ts';
import type { DocumentReading } from './kit.ts';

const MAX_TARGET_CHARS = 100;

/**
 * What stands at a path where a document is due. In this order: no answer, another status than
 * 200, a body that breaks off, the page for any path, HTML, a body that is no text, one over the
 * cap, a document.
 */
export function readDocument(
  path: string,
  answer: HttpObservation,
  soft404: HttpObservation,
  isSameBody: BodyComparison,
): DocumentReading {
  const request = `GET ${path}`;
  if (!answer.ok) return { state: 'unreadable', evidence: failureText(request, answer) };
  const { data } = answer;
  if (data.status !== 200) {
    const evidence = `${request}: ${statusText(data)}`;
    return { state: 'absent', status: data.status, evidence };
  }
  // What broke off is like anything else that broke off at the same place.
  if (data.bodyFailure !== undefined) {
    const evidence = `${request}: 200, but the body broke off (${data.bodyFailure})`;
    return { state: 'unreadable', evidence };
  }
  if (isSameBody(answer, soft404)) {
    return { state: 'soft-404', evidence: `${request}: 200, the same page as for a random path` };
  }
  if (isHtmlAnswer(answer)) return { state: 'html', evidence: `${request}: 200, but HTML` };
  if (data.binary) return { state: 'unreadable', evidence: `${request}: 200, but no text` };
  if (answer.truncated) {
    const evidence = `${request}: 200, but longer than the ${data.body.length} characters that are read`;
    return { state: 'oversize', evidence };
  }
  return { state: 'present', path, answer: data, body: data.body };
}

/** "GET /llms.txt: timeout (no answer within 10 s)" */
export function failureText(request: string, { reason, detail }: Failed): string {
  return `${request}: ${reason} (${detail})`;
}

function statusText({ status, refusedRedirect }: HttpData): string {
  if (refusedRedirect === undefined) return String(status);
  const { to, why } = refusedRedirect;
  return `${status} to ${quoteText(to, MAX_TARGET_CHARS)}, not followed: ${why}`;
}
