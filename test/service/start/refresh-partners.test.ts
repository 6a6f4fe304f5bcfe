import { afterEach, beforeEach, expect, test } from 'vitest';
import { refreshPartners } from '../../../src/service/start/background-work.ts';
import { openStore } from '../../../src/service/store/open-store.ts';
import type { Store } from '../../../src/service/store/store.ts';

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
    standing: { refreshPartners: refresh },
    onError: (message: string, error: unknown) => errors.push(`${message}: ${error}`),
  };
  return { errors, run: () => refreshPartners(options) };
}

test('only one refresh sends a request at a time, and a second refresh ends at once', async () => {
  let answerRequest = (_: typeof SEEN_LISTING) => {};
  let requests = 0;
  const { run } = setUp(() => {
    requests += 1;
    return new Promise((resolve) => {
      answerRequest = resolve;
    });
  });
  const firstRefresh = run();
  await expect.poll(() => requests).toBe(1);
  await run();
  expect(requests).toBe(1);
  answerRequest(SEEN_LISTING);
  await firstRefresh;
  const thirdRefresh = run();
  await expect.poll(() => requests).toBe(2);
  answerRequest(SEEN_LISTING);
  await thirdRefresh;
});

test('a failed request is logged, and the next refresh asks again', async () => {
  const { run, errors } = setUp(async () => FAILED_LISTING);
  await run();
  await run();
  expect(errors).toHaveLength(2);
  expect(errors[0]).toContain('it answered 500');
});

test('a refresh with a closed store logs the error and does not throw', async () => {
  const { run, errors } = setUp(async () => SEEN_LISTING);
  await store.close();
  await run();
  expect(errors).toEqual([expect.stringContaining('was not refreshed')]);
});
