import { randomUUID } from 'node:crypto';
import type { PaidOffer } from '../../../config/revision.ts';
import { exportDirectory } from '../../../directory/export.ts';
import type { PaidRoute } from '../../../payment/paid-route.ts';
import type { Store } from '../../../store/contract/store.ts';
import { JSON_HEADERS } from './json-headers.ts';
import type { SellingParts } from './scan-route.ts';

const MIN_VALIDITY_MS = 20_000;
const MINUTE_MS = 60_000;

/** `GET /v1/directory/export`: the whole directory in one answer. */
export function exportRoute({ config, store }: SellingParts, offer: PaidOffer): PaidRoute<null> {
  const snapshots = new MinuteSnapshots(store, config.siteUrl);
  return {
    name: 'export',
    method: 'GET',
    path: '/v1/directory/export',
    description: 'The whole directory with grade history, up to 10,000 projects in one answer.',
    priceBaseUnits: offer.priceBaseUnits,
    maxTimeoutSeconds: offer.maxTimeoutSeconds,
    minValidityMs: MIN_VALIDITY_MS,
    discovery: {
      input: {},
      inputSchema: { properties: {} },
      output: {
        example: { count: 0, truncated: false, exportedAt: '2026-08-14T00:00:00Z', projects: [] },
        schema: {
          properties: { count: { type: 'integer' }, projects: { type: 'array' } },
          required: ['count', 'truncated', 'projects'],
        },
      },
    },

    parse: () => null,
    canonical: () => 'all',
    compute: async () => ({ answerId: await snapshots.current() }),
  };
}

/** One stored export serves all payers of the same minute. */
class MinuteSnapshots {
  readonly #store: Store;
  readonly #siteUrl: string;
  #minute = -1;
  #answerId: Promise<string> | null = null;

  constructor(store: Store, siteUrl: string) {
    this.#store = store;
    this.#siteUrl = siteUrl;
  }

  current(): Promise<string> {
    const minute = Math.floor(this.#store.now() / MINUTE_MS);
    if (this.#answerId !== null && minute === this.#minute) return this.#answerId;
    const answerId = this.#take();
    this.#minute = minute;
    this.#answerId = answerId;
    answerId.catch(() => {
      if (this.#answerId === answerId) this.#answerId = null;
    });
    return answerId;
  }

  async #take(): Promise<string> {
    const { body } = await exportDirectory(this.#store, this.#siteUrl);
    const answerId = randomUUID();
    await this.#store.answers.put(answerId, { status: 200, headers: JSON_HEADERS }, body);
    return answerId;
  }
}
