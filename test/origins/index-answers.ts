/** What indexes, chain and listing say of a recorded seller: in good standing, or in none. */
import type { IndexedResource, Look } from '../../src/probe/observations.ts';
import type { Standing } from '../../src/probe/standing.ts';
import { SELLER_PAY_TO } from '../sellers/seller.ts';

/** An hour before the recordings are dated. */
const AS_OF = '2026-08-20T11:00:00.000Z';

function seen<T>(source: string, data: T): Look<T> {
  return { state: 'seen', source, asOf: AS_OF, ageSec: 3_600, data };
}

function indexed(url: string, path: string, more: Partial<IndexedResource> = {}): IndexedResource {
  return {
    resource: url + path,
    method: null,
    lastUpdated: '2026-08-18T09:30:00.000Z',
    accepts: 1,
    deprecated: false,
    ...more,
  };
}

/** Shown by the index, paid by many, listed. */
export const KNOWN: Standing = {
  origin: async ({ url }) => ({
    x402scan: seen('x402scan', {
      resources: [
        indexed(url, '/weather', { method: 'GET' }),
        indexed(url, '/summaries', { method: 'POST' }),
      ],
      ownershipVerified: true,
    }),
    listing: seen('x402.org', { listed: true, name: 'Weather and words', website: url }),
  }),
  settlements: async () =>
    seen('x402scan', {
      address: SELLER_PAY_TO,
      windowDays: 30,
      settlements: 240,
      payers: 17,
      lastAt: '2026-08-20T10:12:00.000Z',
    }),
};

/** Everybody was asked, and nobody knows the seller. */
export const UNKNOWN: Standing = {
  origin: async () => ({
    x402scan: seen('x402scan', { resources: [], ownershipVerified: null }),
    listing: seen('x402.org', { listed: false, name: null, website: null }),
  }),
  settlements: async () =>
    seen('Base USDC logs', {
      address: SELLER_PAY_TO,
      windowDays: 30,
      settlements: 0,
      payers: 0,
      lastAt: null,
    }),
};

/** Known once: what the index holds is old and withdrawn, and one source did not answer. */
export const FORGOTTEN: Standing = {
  origin: async ({ url }) => ({
    x402scan: seen('x402scan', {
      resources: [
        indexed(url, '/weather', { lastUpdated: '2026-03-01T00:00:00.000Z', deprecated: true }),
      ],
      ownershipVerified: false,
    }),
    listing: { state: 'failed', source: 'x402.org', detail: 'HTTP 503' },
  }),
  settlements: async () =>
    seen('Base USDC logs', {
      address: SELLER_PAY_TO,
      windowDays: 7,
      settlements: 1,
      payers: 1,
      lastAt: '2026-06-02T00:00:00.000Z',
    }),
};
