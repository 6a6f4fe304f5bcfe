import { afterEach, beforeEach, expect, test } from 'vitest';
import { refreshListing } from '../../src/indexes/refresh-listing.ts';
import { openStore } from '../../src/store/open-store.ts';
import type { Store } from '../../src/store/store.ts';

const SEEN = {
  state: 'seen',
  source: 'x402.org listing',
  asOf: '2026-08-20T12:00:00.000Z',
  ageSec: 0,
  data: [],
} as const;
const FAILED = { state: 'failed', source: 'x402.org listing', detail: 'it answered 500' } as const;

let store: Store;
beforeEach(async () => {
  store = await openStore('sqlite::memory:');
});
afterEach(() => store.close());

function setUp(refresh: () => Promise<typeof SEEN | typeof FAILED>) {
  const troubles: string[] = [];
  const options = {
    store,
    standing: { refreshListing: refresh },
    onError: (message: string, error: unknown) => troubles.push(`${message}: ${error}`),
  };
  return { troubles, run: () => refreshListing(options) };
}

test('one instance asks at a time', async () => {
  let finish = (_: typeof SEEN) => {};
  let asked = 0;
  const { run } = setUp(() => {
    asked += 1;
    return new Promise((resolve) => {
      finish = resolve;
    });
  });
  const first = run();
  await expect.poll(() => asked).toBe(1);
  expect(await run()).toBe('held');
  finish(SEEN);
  expect(await first).toBe('asked');
  const third = run();
  await expect.poll(() => asked).toBe(2);
  finish(SEEN);
  expect(await third).toBe('asked');
});

test('a listing that does not answer is logged, and the lease is free again', async () => {
  const { run, troubles } = setUp(async () => FAILED);
  expect(await run()).toBe('failed');
  expect(await run()).toBe('failed');
  expect(troubles).toHaveLength(2);
  expect(troubles[0]).toContain('it answered 500');
});

test('a lost store is logged, and nothing is thrown', async () => {
  const { run, troubles } = setUp(async () => SEEN);
  await store.close();
  expect(await run()).toBe('failed');
  expect(troubles).toEqual([expect.stringContaining('was not refreshed')]);
});
