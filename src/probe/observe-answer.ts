/** An answer on the wire becomes an observation: plain data that can be stored and replayed. */

import type { Failure } from '../guard/failures.ts';
import type { Hop, HttpData, HttpMethod, Observation, Seen } from '../model/observation.ts';
import { deserializeFrozen } from '../parse/json/transfer.ts';
import { decodeBody } from './client/decode-body.ts';
import type { Answer } from './client/exchange.ts';

export type AnswerContext = {
  readonly url: URL;
  readonly method: HttpMethod;
  readonly capBytes: number;
  readonly redirects: readonly Hop[];
  readonly ms: number;
};

/** The observation that an answer makes: plain data, frozen, the body as text. */
export async function observeAnswer(
  answer: Answer,
  context: AnswerContext,
): Promise<Seen<HttpData>> {
  const { text, isCut, isBinary } = await decodeBody(answer, context.capBytes);
  const members = {
    url: context.url.href,
    method: context.method,
    status: answer.status,
    headers: answer.headers,
    body: text,
    firstByteMs: answer.firstByteMs,
    redirects: [...context.redirects],
    ...(isBinary ? { binary: true } : {}),
    ...(answer.bodyFailure ? { bodyFailure: answer.bodyFailure } : {}),
  };
  const data = deserializeFrozen(members, true) as HttpData; // these members, the body a text when it is read
  return { ok: true, data, ms: context.ms, truncated: answer.truncated || isCut };
}

/** A redirect that was not followed to its end: the redirect itself is the answer. */
export function refuseRedirect(
  seen: Seen<HttpData>,
  to: string,
  { reason, detail }: { reason: string; detail: string } | Failure,
): Observation<HttpData> {
  return { ...seen, data: { ...seen.data, refusedRedirect: { to, why: `${reason}: ${detail}` } } };
}
