/** Counts calls that move or look for money: other users of the node wait while there are any. */
import type { Facilitator } from '../settle/facilitator.ts';
import type { NodeRequests } from './node-requests.ts';

export class WorkInProgress {
  #count = 0;

  get isAny(): boolean {
    return this.#count > 0;
  }

  async track<T>(work: Promise<T>): Promise<T> {
    this.#count += 1;
    try {
      return await work;
    } finally {
      this.#count -= 1;
    }
  }
}

export function trackedNode(node: NodeRequests, work: WorkInProgress): NodeRequests {
  return { request: (args) => work.track(node.request(args)) };
}

export function trackedFacilitator(facilitator: Facilitator, work: WorkInProgress): Facilitator {
  return {
    ...facilitator,
    verify: (request) => work.track(facilitator.verify(request)),
    settle: (request) => work.track(facilitator.settle(request)),
  };
}
