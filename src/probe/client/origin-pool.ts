import type { Socket } from 'node:net';
import type { Attempt } from './attempt.ts';
import { Exchange, type ExchangeRequest, type Outcome } from './exchange.ts';
import type { Failure } from './failures.ts';
import { Lane, type LaneEvents } from './lane.ts';
import type { Limits } from './limits.ts';
import type { ScanBudget } from './scan-budget.ts';

export type OriginPoolOptions = {
  readonly originUrl: string;
  readonly limits: Limits;
  readonly budget: ScanBudget;
  readonly open: (signal: AbortSignal) => Promise<Socket>;
};

const LOST: Failure = { reason: 'reset', detail: 'the connection closed before the answer' };
const OVER_BUDGET: Failure = { reason: 'budget', detail: 'the scan has used up its requests' };
/** An idle connection may be closing as a POST, which cannot be sent again, goes out on it. */
const FRESH_FOR_POST_MS = 1_000;
/** Failed connections, none having succeeded, after which an origin is not dialled again. */
const FAILED_CONNECTIONS = 2;

/**
 * All connections of one scan to one origin: which request goes where, and what is sent again.
 *
 * Requests are pipelined only once the origin has kept a connection open after an answer, and no
 * more after one that broke or stalled with others behind it: those move to another connection,
 * once, and from then on each connection carries one request at a time.
 */
export class OriginPool implements LaneEvents {
  readonly #options: OriginPoolOptions;
  readonly #lanes = new Set<Lane>();
  readonly #queue: Exchange[] = [];
  #depth = 1;
  #isPipelineBroken = false;
  #maxLanes: number;
  #failedConnections = 0;
  #hasConnected = false;
  #closed: Failure | null = null;
  #pause: NodeJS.Timeout | undefined;
  #pausedUntil = 0;
  #isScheduled = false;

  constructor(options: OriginPoolOptions) {
    this.#options = options;
    this.#maxLanes = options.limits.socketsPerOrigin;
  }

  run(request: ExchangeRequest): Promise<Outcome> {
    const exchange = new Exchange(request);
    this.#queue.push(exchange);
    this.#schedule();
    return exchange.outcome;
  }

  /** Sends nothing for a while: the origin asked for it. Also ends pipelining. */
  pause(ms: number): void {
    this.#breakPipeline();
    this.#pausedUntil = Math.max(this.#pausedUntil, performance.now() + ms);
    clearTimeout(this.#pause);
    this.#pause = setTimeout(
      () => {
        this.#pausedUntil = 0;
        this.#schedule();
      },
      Math.max(0, this.#pausedUntil - performance.now()),
    );
  }

  /** Ends everything: what waits gets the failure, a header that was seen is kept. */
  close(failure: Failure): void {
    if (this.#closed) return;
    this.#closed = failure;
    clearTimeout(this.#pause);
    for (const exchange of this.#queue.splice(0)) exchange.fail(failure);
    for (const lane of [...this.#lanes]) lane.end(failure);
  }

  freed(): void {
    this.#hasConnected = true;
    if (!this.#isPipelineBroken) this.#depth = this.#options.limits.pipelining;
    this.#schedule();
  }

  stalled(lane: Lane): void {
    if (!lane.isConnected) {
      if (this.#hasOtherConnection(lane)) lane.end({ reason: 'timeout', detail: 'no connection' });
      return;
    }
    this.#schedule();
    const behind = lane.inFlight.slice(1).filter((attempt) => !attempt.exchange.isResent);
    if (behind.length === 0) return;
    lane.isRetiring = true;
    this.#breakPipeline();
    for (const attempt of behind.toReversed()) this.#again(attempt, LOST);
  }

  ended(lane: Lane, failure: Failure | null): void {
    this.#lanes.delete(lane);
    const pending = lane.inFlight.filter((attempt) => !attempt.isOver);
    if (this.#closed) {
      for (const attempt of pending) attempt.settle(attempt.conclude(this.#closed));
      return;
    }
    if (!lane.isConnected && failure) {
      this.#connectionFailed(pending, failure);
    } else {
      this.#hasConnected ||= lane.isConnected;
      if (pending.length > 0) this.#breakPipeline();
      this.#settleOrRepeat(lane, pending, failure);
    }
    this.#schedule();
  }

  #settleOrRepeat(lane: Lane, pending: readonly Attempt[], failure: Failure | null): void {
    // From the last, as each goes to the front of the queue.
    for (const attempt of pending.toReversed()) {
      const isToBlame = failure !== null && attempt === lane.inFlight[0];
      if (isToBlame && !isExcused(lane, attempt, failure)) {
        attempt.settle(attempt.conclude(failure));
      } else {
        this.#again(attempt, failure ?? LOST);
      }
    }
  }

  /** A connection beyond those that work is done without; the first ones decide for all. */
  #connectionFailed(pending: readonly Attempt[], failure: Failure): void {
    if (this.#hasOtherConnection()) {
      this.#maxLanes = this.#lanes.size;
      for (const attempt of pending.toReversed()) this.#again(attempt, failure);
      return;
    }
    this.#failedConnections += 1;
    for (const attempt of pending) attempt.settle(attempt.conclude(failure));
    if (this.#lanes.size === 0 && !this.#mayOpenLane) this.close(failure);
  }

  #again(attempt: Attempt, failure: Failure): void {
    const { exchange, isSent } = attempt;
    if (isSent && (exchange.isResent || exchange.isExclusive)) {
      attempt.settle(attempt.conclude(failure));
      return;
    }
    attempt.isOver = true;
    if (isSent) exchange.isResent = true;
    else this.#options.budget.requests -= 1;
    this.#queue.unshift(exchange);
  }

  /** Later, never at once: callers may be inside undici's parser, which is not reentrant. */
  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    queueMicrotask(() => {
      this.#isScheduled = false;
      this.#pump();
    });
  }

  #pump(): void {
    if (this.#closed) for (const exchange of this.#queue.splice(0)) exchange.fail(this.#closed);
    if (performance.now() < this.#pausedUntil) return;
    // A POST that waits for a connection of its own does not hold up those behind it.
    for (const exchange of [...this.#queue]) {
      if (!this.#options.budget.mayRequest) {
        this.#dequeue(exchange).fail(OVER_BUDGET);
        continue;
      }
      const lane = exchange.isExclusive ? this.#laneForPost() : this.#laneForMany();
      if (!lane) continue;
      this.#options.budget.requests += 1;
      lane.send(this.#dequeue(exchange));
    }
    if (this.#queue.length === 0) this.#giveWay();
  }

  #dequeue(exchange: Exchange): Exchange {
    this.#queue.splice(this.#queue.indexOf(exchange), 1);
    return exchange;
  }

  #laneForMany(): Lane | null {
    const open = [...this.#lanes].filter((lane) => lane.isOpenForWork && !holdsPost(lane));
    open.sort((a, b) => a.inFlight.length - b.inFlight.length);
    const [emptiest] = open;
    if (emptiest && emptiest.inFlight.length === 0) return emptiest;
    if (this.#mayOpenLane) return this.#openLane();
    return emptiest && emptiest.inFlight.length < this.#depth ? emptiest : null;
  }

  #laneForPost(): Lane | null {
    const idle = [...this.#lanes].filter((l) => l.isOpenForWork && l.inFlight.length === 0);
    const freshAfter = performance.now() - FRESH_FOR_POST_MS;
    const fresh = idle.find((lane) => lane.isConnected && lane.idleSince > freshAfter);
    if (fresh) return fresh;
    for (const stale of idle) stale.end(null);
    return this.#mayOpenLane ? this.#openLane() : null;
  }

  get #mayOpenLane(): boolean {
    const isHopeless = !this.#hasConnected && this.#failedConnections >= FAILED_CONNECTIONS;
    return this.#lanes.size < this.#maxLanes && !isHopeless;
  }

  #openLane(): Lane {
    const lane = new Lane({ ...this.#options, events: this });
    this.#lanes.add(lane);
    return lane;
  }

  #hasOtherConnection(than?: Lane): boolean {
    return [...this.#lanes].some((l) => l !== than && l.isConnected && l.isOpenForWork);
  }

  /** A server that serves one connection at a time answers on no other until this one closes. */
  #giveWay(): void {
    const lanes = [...this.#lanes];
    if (!lanes.some((lane) => lane.hasStalled && lane.answers === 0)) return;
    for (const lane of lanes) if (lane.inFlight.length === 0) lane.end(null);
  }

  #breakPipeline(): void {
    this.#isPipelineBroken = true;
    this.#depth = 1;
  }
}

function holdsPost(lane: Lane): boolean {
  return lane.inFlight.some((attempt) => attempt.exchange.isExclusive);
}

/**
 * Whether a failure may have hit the wrong request: a kept-alive connection that closed as it went
 * out, or bytes that belong to the HEAD before it. Then it may be sent once more.
 */
function isExcused(lane: Lane, attempt: Attempt, failure: Failure): boolean {
  if (lane.answers === 0) return false;
  if (failure.reason === 'reset') return !attempt.hasAnswerBegun;
  return failure.reason === 'malformed' && lane.lastMethod === 'HEAD';
}
