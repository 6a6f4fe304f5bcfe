/** The service, and an origin whose owner it can believe. */

import { parseAllowHosts } from '../../../src/scanner/guard/origin.ts';
import type { RevisionName } from '../../../src/service/config/revision.ts';
import { type Answer, startApp, type TestApp } from '../../fixtures/service/start-app.ts';
import { openRealClient } from '../turns/turn-clients.ts';
import { startTokenOrigin, type TokenOrigin } from './token-origin.ts';

export type OwnedApp = AsyncDisposable & {
  readonly service: TestApp;
  readonly origin: TokenOrigin;
  start(from?: string): Promise<Answer>;
  /** Starts, and serves the token that came. */
  startAndServe(from?: string): Promise<string>;
  confirm(from?: string): Promise<Answer>;
  confirmWith(listingKey: string, from?: string): Promise<Answer>;
  setListing(wish: object, from?: string): Promise<Answer>;
};

/** The service, and a real origin whose challenge path it may read. Requests come from `from`. */
export async function startOwnedApp(revision: RevisionName = '0.3.0'): Promise<OwnedApp> {
  const origin = await startTokenOrigin();
  const allowHosts = parseAllowHosts(origin.host);
  const service = await startApp({
    revision,
    environment: { SCAN_ALLOW_HOSTS: origin.host, RATE_LIMIT: 'off' },
    openClient: openRealClient({
      policy: { allowedPorts: [443], allowHosts },
      userAgent: 'x402-conformance-scanner/test',
      extraCa: [origin.ca],
    }),
  });
  const post = (path: string, body: object, from = '198.51.100.7') =>
    service.app.inject({ method: 'POST', url: path, payload: body, remoteAddress: from });
  const start = (from?: string) => post('/v1/verify/start', { url: origin.url }, from);

  return {
    service,
    origin,
    start,
    startAndServe: async (from) => {
      const { token } = (await start(from)).json();
      origin.serve(token);
      return token;
    },
    confirm: (from) => post('/v1/verify/confirm', { url: origin.url }, from),
    confirmWith: (listingKey, from) =>
      post('/v1/verify/confirm', { url: origin.url, listingKey }, from),
    setListing: (wish, from) => post('/v1/listing', { url: origin.url, ...wish }, from),
    [Symbol.asyncDispose]: async () => {
      await service[Symbol.asyncDispose]();
      await origin[Symbol.asyncDispose]();
    },
  };
}
