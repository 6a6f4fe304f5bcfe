/** Failures of a connection that its first request is not to blame for. */
import type { Failure } from '../../guard/failures.ts';
import type { PipelinedConnection } from './pipelined-connection.ts';
import type { ResponseCollector } from './response-collector.ts';

/**
 * Whether a failure may have hit the wrong request: a kept-alive connection that closed as it went
 * out, or bytes that belong to the HEAD before it. Then it may be sent once more.
 */
export function isExcused(
  connection: PipelinedConnection,
  response: ResponseCollector,
  failure: Failure,
): boolean {
  if (connection.answers === 0 && !connection.hasIdled) return false;
  if (failure.reason === 'reset') return !response.hasAnswerBegun;
  return failure.reason === 'malformed' && connection.lastMethod === 'HEAD';
}
