import type { FailedObservation, HttpData } from '../../model/observation.ts';
import type { HttpObservation } from '../../model/observations.ts';
import type { JsonReading } from '../json/json.ts';
import { quoteText } from '../text/text.ts';
import { type BodyComparison, isHtmlAnswer } from './answer-body.ts';

/** The classified answer at a document's path. */
export type DocumentReading =
  | { readonly state: 'absent'; readonly status: number; readonly evidence: string }
  /** `oversize`: the body is longer than the limit, so only the start of the body was read. */
  | {
      readonly state: 'unreadable' | 'soft-404' | 'html' | 'oversize';
      readonly evidence: string;
    }
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
  if (answer.truncated) {
    const evidence = `${request}: 200, but longer than the ${data.body.length} characters that are read`;
    return { state: 'oversize', evidence };
  }
  return { state: 'present', path, answer: data, body: data.body };
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
