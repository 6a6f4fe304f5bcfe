import type { FailedObservation, HttpData } from '../../model/observation.ts';
import type { HttpObservation } from '../../model/observations.ts';
import { quoteText } from '../text/text.ts';
import { type BodyComparison, isHtmlAnswer } from './answer-body.ts';

/** The classified answer at a document's path. */
export type DocumentReading =
  | { readonly state: 'unreadable'; readonly evidence: string }
  | { readonly state: 'absent'; readonly status: number; readonly evidence: string }
  | { readonly state: 'soft-404'; readonly evidence: string }
  | { readonly state: 'html'; readonly evidence: string }
  /** The body is longer than the cap, so only its start was read. */
  | { readonly state: 'oversize'; readonly evidence: string }
  | {
      readonly state: 'present';
      readonly path: string;
      readonly answer: HttpData;
      readonly body: string;
    };

export type DocumentReader = (
  path: string,
  answer: HttpObservation,
  soft404: HttpObservation,
) => DocumentReading;

const MAX_REDIRECT_CHARS = 100;

/**
 * Classifies the answer at a document's path. The first state that applies is returned, in the order of the
 * statements below.
 */
export function readDocument(
  path: string,
  answer: HttpObservation,
  soft404: HttpObservation,
  isSameBody: BodyComparison,
): DocumentReading {
  const request = `GET ${path}`;
  if (!answer.ok) return { state: 'unreadable', evidence: formatFailure(request, answer) };
  const { data } = answer;
  if (data.status !== 200) {
    const evidence = `${request}: ${formatStatus(data)}`;
    return { state: 'absent', status: data.status, evidence };
  }
  // This comes before the soft-404 comparison: two incomplete bodies may be equal by chance.
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

/** Formats "GET /llms.txt: timeout (no answer within 10 s)". */
export function formatFailure(request: string, { reason, detail }: FailedObservation): string {
  return `${request}: ${reason} (${detail})`;
}

function formatStatus({ status, refusedRedirect }: HttpData): string {
  if (refusedRedirect === undefined) return String(status);
  const { to, why } = refusedRedirect;
  return `${status} to ${quoteText(to, MAX_REDIRECT_CHARS)}, not followed: ${why}`;
}
