/** The app, its watches and a receiver. Time moves only when the test advances it. */

import type { Address } from '../../../src/scanner/guard/name-servers.ts';
import { createProbeClient } from '../../../src/scanner/probe/client/client.ts';
import { TOKEN_PATH } from '../../../src/service/ownership/token-reader.ts';
import type { AskResources, ResourceAnswer } from '../../../src/service/turns/ask-resources.ts';
import type { WatchingEvent } from '../../../src/service/watch/watching.ts';
import { startApp, type TestApp, type TestAppOptions } from '../../fixtures/service/start-app.ts';
import { openFakeClient } from '../turns/turn-clients.ts';
import { type Receiver, startReceiver } from './receiver.ts';

export const HOST = 'api.example.com';

export type WatchedApp = AsyncDisposable & {
  readonly app: TestApp;
  readonly receiver: Receiver;
  readonly events: WatchingEvent[];
  /** Gives the answer of a resource to the hourly requests. With null, the requests fail by our own fault. */
  answerResource: ((resource: { method: string; path: string }) => ResourceAnswer) | null;
  /** Addresses of hosts that do not have the common address. */
  readonly addresses: Map<string, Address>;
  /** Hosts whose resources the watch asked, in order. */
  readonly askedHosts: string[];
  /** Serves the token file of the host, and confirms control. */
  proveControl(host?: string): Promise<{ readonly listingKey: string; readonly token: string }>;
  /** Posts `/v1/watch` for the host, and returns the answer. */
  watch(more?: object): Promise<{ readonly status: number; readonly body: Record<string, string> }>;
  /** Calls `watch`, lets the receiver agree, waits until all begun work has ended, and returns the secret. */
  startAgreed(more?: object): Promise<string>;
  call(
    path: 'status' | 'test' | 'stop',
    secret: string,
    host?: string,
  ): Promise<{ readonly status: number; readonly body: Record<string, unknown> }>;
  /** Begins all due work and waits for it, until no more work is due. */
  settle(): Promise<void>;
  /** Moves the clock, and settles. */
  advance(ms: number): Promise<void>;
};

export type WatchedAppOptions = {
  /** Further receivers that may be reached. */
  readonly alsoAllow?: readonly string[];
  readonly openStore?: TestAppOptions['openStore'];
  readonly environment?: TestAppOptions['environment'];
};

export async function startWatchedApp(options: WatchedAppOptions = {}): Promise<WatchedApp> {
  const receiver = await startReceiver();
  const openOriginClient = openFakeClient({
    addressOf: (host) => watched.addresses.get(host) ?? { address: '203.0.113.1', family: 4 },
    answer: ({ origin, path }) =>
      path === TOKEN_PATH ? (app.challenges.get(origin.host) ?? null) : null,
  });
  const events: WatchingEvent[] = [];
  const askedHosts: string[] = [];
  const askResources: AskResources = async ({ host }, resources) => {
    askedHosts.push(host);
    const { answerResource } = watched;
    if (answerResource === null) throw new Error('our fault');
    return resources.map(answerResource);
  };
  const app = await startApp({
    onWatchingEvent: (event) => events.push(event),
    askResources,
    async openClient(kind, limits) {
      if (kind !== 'webhook') return openOriginClient(kind, limits);
      return createProbeClient({ policy: app.config.originPolicy, userAgent: 'test', limits });
    },
    environment: {
      RATE_LIMIT: 'off',
      ...options.environment,
      SCAN_ALLOW_HOSTS: [receiver.host, ...(options.alsoAllow ?? [])].join(','),
    },
    ...(options.openStore ? { openStore: options.openStore } : {}),
  });
  const { watching } = app;

  async function call(path: string, body: object) {
    const answer = await app.post(path, body);
    return { status: answer.statusCode, body: answer.json() };
  }

  const watched: WatchedApp = {
    app,
    receiver,
    events,
    addresses: new Map(),
    askedHosts,
    answerResource: (resource) => ({ ...resource, kind: 'unknown' }),
    async proveControl(host = HOST) {
      const { body } = await call('/v1/verify/start', { url: host });
      app.challenges.set(host, body.token);
      await call('/v1/verify/confirm', { url: host });
      return { listingKey: body.listingKey, token: body.token };
    },
    watch: (more = {}) => call('/v1/watch', { url: HOST, webhook: receiver.url, ...more }),
    async startAgreed(more = {}) {
      const url = 'url' in more ? String(more.url) : HOST;
      await watched.proveControl(url);
      const { status, body } = await watched.watch(more);
      if (status !== 200) throw new Error(`POST /v1/watch: ${status} ${JSON.stringify(body)}`);
      await watched.settle();
      return body['secret'] ?? '';
    },
    call: (path, secret, host = HOST) => call(`/v1/watch/${path}`, { url: host, secret }),
    async settle() {
      for (let round = 0; round < 100; round += 1) {
        const before = events.length;
        await watching.tick();
        await watching.idle();
        if (events.length === before) return;
      }
      throw new Error('what is due does not end');
    },
    async advance(ms) {
      app.advance(ms);
      await watched.settle();
    },
    async [Symbol.asyncDispose]() {
      await app[Symbol.asyncDispose]();
      await receiver[Symbol.asyncDispose]();
    },
  };
  return watched;
}
