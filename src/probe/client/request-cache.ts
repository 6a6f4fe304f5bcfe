/** Every request of one scan, each sent once: asking again gives the answer that is there. */

import type { Origin } from '../../guard/origin.ts';
import type { HttpObservation } from '../../model/observations.ts';
import type { ProbeClient, ProbeRequest } from './client.ts';

/** A request with headers of its own, or with an MCP message, shares no cached answer. */
export type Ask = Omit<ProbeRequest, 'origin' | 'body' | 'timeoutMs'> & {
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

  /** An answer that is there already, of any of the methods, or undefined. */
  known(method: Ask['method'], path: string): Promise<HttpObservation> | undefined {
    return this.#answers.get(key(method, path, 1));
  }

  /** An answer that no request brought: one that could not have been any different. */
  record(method: Ask['method'], path: string, answer: HttpObservation): void {
    this.#answers.set(key(method, path, 1), Promise.resolve(answer));
  }

  ask({ number = 1, ...ask }: Ask): Promise<HttpObservation> {
    const isOwn = ask.rpc !== undefined || ask.headers !== undefined;
    const name = key(ask.method, ask.path, number) + (isOwn ? ` ${this.size}` : '');
    const known = this.#answers.get(name);
    if (known !== undefined) return known;
    const answer = this.#client.request({
      origin: this.#origin,
      ...ask,
      ...(ask.method === 'POST' && ask.rpc === undefined ? { body: '{}' as const } : {}),
    });
    this.#answers.set(name, answer);
    return answer;
  }
}

function key(method: Ask['method'], path: string, number: 1 | 2): string {
  return `${number} ${method} ${path}`;
}
