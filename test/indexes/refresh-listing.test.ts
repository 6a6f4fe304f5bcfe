import { afterEach, beforeEach, expect, test } from 'vitest';
import { refreshListing } from '../../src/indexes/refresh-listing.ts';
import { openStore } from '../../src/store/open-store.ts';
import type { Store } from '../../src/store/store.ts';

const SEEN_LISTING = {
  state: 'seen',
  source: 'x402.org listing',
  asOf: '2026-08-20T12:00:00.000Z',
  ageSec: 0,
  data: [],
} as const;
const FAILED_LISTING = {
  state: 'failed',
  source: 'x402.org listing',
  detail: 'it answered 500',
} as const;

let store: Store;
beforeEach(async () => {
  store = await openStore('sqlite::memory:');
});
afterEach(() => store.close());

function setUp(refresh: () => Promise<typeof SEEN_LISTING | typeof FAILED_LISTING>) {
  const errors: string[] = [];
  const options = {
    store,
    standing: { refreshListing: refresh },
    onError: (message: string, error: unknown) => errors.push(`${message}: ${error}`),
  };
  return { errors, run: () => refreshListing(options) };
}

test('only one refresh asks at a time, and a second refresh ends with "held"', async () => {
  let finish = (_: typeof SEEN_LISTING) => {};
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
  finish(SEEN_LISTING);
  expect(await first).toBe('asked');
  const third = run();
  await expect.poll(() => asked).toBe(2);
  finish(SEEN_LISTING);
  expect(await third).toBe('asked');
});

test('a failed request is logged, and the next refresh asks again', async () => {
  const { run, errors } = setUp(async () => FAILED_LISTING);
  expect(await run()).toBe('failed');
  expect(await run()).toBe('failed');
  expect(errors).toHaveLength(2);
  expect(errors[0]).toContain('it answered 500');
});

test('a closed store is logged, and the refresh does not throw', async () => {
  const { run, errors } = setUp(async () => SEEN_LISTING);
  await store.close();
  expect(await run()).toBe('failed');
  expect(errors).toEqual([expect.stringContaining('was not refreshed')]);
});
