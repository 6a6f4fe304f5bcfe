/** Sends each request of one scan once. The same request again returns the first answer. */

import type { Origin } from '../../guard/origin.ts';
import type { HttpObservation } from '../../model/observations.ts';
import type { ProbeClient, ProbeRequest } from './client.ts';

/** Prefers data, because sellers send a long page to a client that looks like a browser. */
export const ACCEPT_JSON = 'application/json, */*;q=0.5';

/** A request to the scanned origin. Requests with `headers` or an MCP message are always sent. */
type CachedRequest = Omit<ProbeRequest, 'origin' | 'body' | 'timeoutMs'> & {
  readonly accept: string;
  /** 2 sends the same request a second time, for the checks that compare two answers. */
  readonly number?: 1 | 2;
};

export class RequestCache {
  readonly #client: Pick<ProbeClient, 'request'>;
  readonly #origin: Origin;
  readonly #answers = new Map<string, Promise<HttpObservation>>();

  constructor(client: Pick<ProbeClient, 'request'>, origin: Origin) {
    this.#client = client;
    this.#origin = origin;
  }

  get size(): number {
    return this.#answers.size;
  }

  /** Returns the answer to an earlier request, or undefined. */
  findAnswer(method: CachedRequest['method'], path: string): Promise<HttpObservation> | undefined {
    return this.#answers.get(toKey(method, path, 1));
  }

  /** Stores an answer without a request, because the request could not have another answer. */
  record(method: CachedRequest['method'], path: string, answer: HttpObservation): void {
    this.#answers.set(toKey(method, path, 1), Promise.resolve(answer));
  }

  ask({ number = 1, ...request }: CachedRequest): Promise<HttpObservation> {
    const { method, path, rpc } = request;
    const isAlwaysSent = rpc !== undefined || request.headers !== undefined;
    // The size makes the key unique.
    const key = toKey(method, path, number) + (isAlwaysSent ? ` ${this.size}` : '');
    const earlierAnswer = this.#answers.get(key);
    if (earlierAnswer !== undefined) return earlierAnswer;
    const body = method === 'POST' && rpc === undefined ? ({ body: '{}' } as const) : {};
    const answer = this.#client.request({ origin: this.#origin, ...request, ...body });
    this.#answers.set(key, answer);
    return answer;
  }
}

function toKey(method: CachedRequest['method'], path: string, number: 1 | 2): string {
  return `${number} ${method} ${path}`;
}
