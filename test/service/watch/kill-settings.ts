import { toWatchTiming } from '../../../src/service/watch/state.ts';

export const HOST = 'api.example.com';
/** Scale of the store's times. It counts an instance as dead after 200 ms without a sign of life. */
export const TIME_SCALE = 0.01;
export const SETTINGS = {
  revision: '0.3.0',
  network: 'eip155:8453',
  asset: '0xasset',
  payTo: '0xpayto',
  baseUrl: 'http://127.0.0.1:4021',
  catalog: '2026-08-14.2',
  signingKey: 'store',
};
/** Several looks a second; a lost try is repeated at once. */
export const FAST = {
  ...toWatchTiming(),
  hourMs: 150,
  confirmAfterMs: 100,
  retryAfterMs: Array.from({ length: 200 }, () => 20),
};
