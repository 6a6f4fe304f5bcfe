/** Sends each request of one scan once. Asking again returns the first answer. */

import type { Origin } from '../../guard/origin.ts';
import type { HttpObservation } from '../../model/observations.ts';
import type { ProbeClient, ProbeRequest } from './client.ts';

/** A request to the scanned origin. Requests with own headers or an MCP message share no cached answer. */
export type CachedRequest = Omit<ProbeRequest, 'origin' | 'body' | 'timeoutMs'> & {
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

  /** Number of distinct requests that were sent. */
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

  ask({ number = 1, ...ask }: CachedRequest): Promise<HttpObservation> {
    const isUnshared = ask.rpc !== undefined || ask.headers !== undefined;
    const key = toKey(ask.method, ask.path, number) + (isUnshared ? ` ${this.size}` : '');
    const earlierAnswer = this.#answers.get(key);
    if (earlierAnswer !== undefined) return earlierAnswer;
    const answer = this.#client.request({
      origin: this.#origin,
      ...ask,
      ...(ask.method === 'POST' && ask.rpc === undefined ? { body: '{}' as const } : {}),
    });
    this.#answers.set(key, answer);
    return answer;
  }
}

function toKey(method: CachedRequest['method'], path: string, number: 1 | 2): string {
  return `${number} ${method} ${path}`;
}
