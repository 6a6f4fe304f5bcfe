/** Answers of the public sources, in the shapes that their code and documentation define. */

export const ORIGIN_ID = '8f14e45f-ceea-467f-a9d4-2f3b6c1f0a11';
export const PAY_TO = '0x1111111111111111111111111111111111111111';

/** The tRPC envelope in superjson form, with dates as texts. */
export function trpc(json: unknown) {
  return { result: { data: { json, meta: { values: {}, v: 1 } } } };
}

export function resourceRow(resource: string, overrides: object = {}) {
  return {
    id: '2d9f1a64-0000-4000-8000-000000000001',
    resource,
    type: 'http',
    x402Version: 2,
    lastUpdated: '2026-08-18T09:15:00.000Z',
    metadata: null,
    deprecatedAt: null,
    originId: ORIGIN_ID,
    accepts: [{ payTo: PAY_TO }],
    ...overrides,
  };
}

export function originRow(origin: string, resources: readonly object[], overrides: object = {}) {
  return {
    id: ORIGIN_ID,
    origin,
    title: 'Weather',
    description: null,
    favicon: null,
    createdAt: '2026-01-02T03:04:05.000Z',
    updatedAt: '2026-08-18T09:15:00.000Z',
    resources,
    ...overrides,
  };
}

export function verification(verified: number, total: number) {
  return trpc({
    verified,
    total,
    allVerified: total > 0 && verified === total,
    partiallyVerified: verified > 0 && verified < total,
    unverified: verified === 0,
  });
}

/** A row of `public.sellers.bazaar.list`. */
export function sellerOfOrigin(origin: string, overrides: object = {}) {
  return {
    recipients: [PAY_TO],
    origins: [{ id: ORIGIN_ID, origin, title: 'Weather' }],
    facilitators: ['coinbase'],
    tx_count: 42,
    total_amount: 420_000,
    latest_block_timestamp: '2026-08-19T23:00:00.000Z',
    unique_buyers: 7,
    chains: ['base'],
    transactionSparkline: [],
    ...overrides,
  };
}

/** A row of `public.sellers.all.list`. */
export function sellerByAddress(recipient: string, overrides: object = {}) {
  return {
    recipient,
    facilitator_ids: ['coinbase'],
    tx_count: 12,
    total_amount: 120_000,
    latest_block_timestamp: '2026-08-12T08:00:00.000Z',
    unique_buyers: 4,
    chains: ['base'],
    ...overrides,
  };
}

export function page(items: readonly unknown[]) {
  return trpc({
    items,
    total_count: items.length,
    total_pages: 1,
    hasNextPage: false,
    page: 0,
    page_size: 100,
  });
}

export function bazaarItem(quality: object | null | undefined, payTo = PAY_TO) {
  return {
    resource: 'https://weather.example.com/paid',
    type: 'http',
    x402Version: 2,
    lastUpdated: '2026-08-19T23:00:00.000Z',
    accepts: [{ scheme: 'exact', network: 'eip155:8453', amount: '10000', payTo }],
    ...(quality === undefined ? {} : { quality }),
  };
}

export function merchant(resources: readonly unknown[]) {
  const pagination = { limit: 100, offset: 0, total: resources.length };
  return { x402Version: 2, payTo: PAY_TO, resources, pagination };
}

export const MERCHANT_NOT_FOUND = {
  errorType: 'not_found',
  errorMessage: 'merchant not found',
  correlationId: '41deb8d59a9dc9a7-IAD',
};
