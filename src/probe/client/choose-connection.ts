/** Which of the connections that stand carries a request. */
import type { PipelinedConnection } from './pipelined-connection.ts';

/** An idle connection may be closing as a POST, which cannot be sent again, goes out on it. */
const FRESH_FOR_POST_MS = 1_000;

export function holdsPost(connection: PipelinedConnection): boolean {
  return connection.inFlight.some((response) => response.exchange.isExclusive);
}

/** Of those that requests can share, the one with the fewest. */
export function emptiestOf(
  connections: Iterable<PipelinedConnection>,
): PipelinedConnection | undefined {
  const open = [...connections].filter((one) => one.isOpenForWork && !holdsPost(one));
  return open.toSorted((a, b) => a.inFlight.length - b.inFlight.length)[0];
}

/** For a POST: an idle connection that was in use just now, or those that were not. */
export function idleOf(connections: Iterable<PipelinedConnection>) {
  const idle = [...connections].filter((one) => one.isOpenForWork && one.inFlight.length === 0);
  const freshAfter = performance.now() - FRESH_FOR_POST_MS;
  const fresh = idle.find((one) => !one.isConnected || one.idleSince > freshAfter);
  return { fresh, stale: idle };
}
