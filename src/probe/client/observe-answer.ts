/** Turns an answer on the wire into an observation: plain data that can be stored and replayed. */

import type {
  AnswerObservation,
  Hop,
  HttpData,
  HttpMethod,
  Observation,
} from '../../model/observation.ts';
import { deserializeFrozen } from '../../parse/json/transfer.ts';
import type { BodyReading } from './body-reading.ts';
import type { ExchangeAnswer } from './decode-body.ts';
import { decodeBody } from './decode-body.ts';

export type AnswerContext = {
  readonly url: URL;
  readonly method: HttpMethod;
  readonly capBytes: number;
  readonly redirects: readonly Hop[];
  readonly ms: number;
};

/** Turns an answer into frozen plain data with the body as text. */
export async function observeAnswer(
  answer: ExchangeAnswer,
  context: AnswerContext,
  reading?: BodyReading,
): Promise<AnswerObservation<HttpData>> {
  const decoded = await decodeBody(answer, context.capBytes, reading);
  const { text, isCut, isBinary, isBroken } = decoded;
  // The compressed data of a body that was cut on the wire ends too early.
  const bodyFailure = answer.bodyFailure ?? (isBroken && !answer.truncated ? 'malformed' : null);
  const members = {
    url: context.url.href,
    method: context.method,
    status: answer.status,
    headers: answer.headers,
    body: text,
    firstByteMs: answer.firstByteMs,
    redirects: [...context.redirects],
    ...(isBinary ? { binary: true } : {}),
    ...(bodyFailure === null ? {} : { bodyFailure }),
  };
  const data = deserializeFrozen(members, true) as HttpData; // same members; a shared body is read as a string
  return { ok: true, data, ms: context.ms, truncated: answer.truncated || isCut || isBroken };
}

/** Returns the redirect itself as the answer, with the reason why it was not followed. */
export function refuseRedirect(
  answer: AnswerObservation<HttpData>,
  to: string,
  { reason, detail }: { readonly reason: string; readonly detail: string },
): Observation<HttpData> {
  return {
    ...answer,
    data: { ...answer.data, refusedRedirect: { to, why: `${reason}: ${detail}` } },
  };
}
