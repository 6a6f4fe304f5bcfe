/** The service, in a process that may be killed at any moment. Settings come by the environment. */
import pino from 'pino';
import { loadConfig } from '../../src/config/config.ts';
import { buildApp } from '../../src/http/app.ts';
import { openSigningKey } from '../../src/keys/open-signing-key.ts';
import type { PaymentStep } from '../../src/payment/gate/purchase.ts';
import { notAsked } from '../../src/preflight/result.ts';
import { createScanCoordinator } from '../../src/scans/scan-coordinator.ts';
import { openPayments } from '../../src/service/payments.ts';
import { openStore } from '../../src/store/open-store.ts';
import { createOriginTurns } from '../../src/turns/origin-turns.ts';
import { subscribeToSteps } from '../fixtures/failpoints.ts';
import { readCatalog } from '../fixtures/service/test-catalog.ts';
import { createFakeScanner } from '../scan/fake-scanner.ts';
import { openFakeClient } from '../turns/turn-clients.ts';

/** From the parent: dies at the nth passing of this failpoint, or of any. */
export type Arm = { readonly name: PaymentStep | 'any'; readonly n: number };
/** From the parent: how many payments are open? */
export type Ask = { readonly ask: 'open' };
export type ChildMessage =
  | { readonly listening: string }
  | { readonly armed: true }
  | { readonly open: number };

const SCAN_MS = 20;

/** Ends the process at the point that the parent names. */
function dieWhenTold(): void {
  let armed: Arm | null = null;
  let left = 0;
  process.on('message', (message: Arm | Ask) => {
    if (!('name' in message)) return;
    armed = message;
    left = message.n;
    process.send?.({ armed: true } satisfies ChildMessage);
  });
  subscribeToSteps((name) => {
    if (armed === null || (armed.name !== 'any' && armed.name !== name)) return;
    left -= 1;
    if (left === 0) process.kill(process.pid, 'SIGKILL');
  });
}

dieWhenTold();
const config = loadConfig(process.env);
const store = await openStore(config.storeUrl);
const scanner = createFakeScanner(config.checksVersion);
const slowScanner = {
  ...scanner,
  async scan(...args: Parameters<typeof scanner.scan>) {
    await new Promise((resolve) => setTimeout(resolve, SCAN_MS));
    return scanner.scan(...args);
  },
};
const scanCoordinator = createScanCoordinator({
  scanner: slowScanner,
  store,
  catalogFacts: {},
});
const payments = await openPayments({
  config,
  store,
  scanCoordinator,
  onError: () => undefined,
});
const app = await buildApp(config, {
  store,
  scanCoordinator,
  catalog: readCatalog(config.checksVersion),
  checks: [],
  judgeGivenChallenge: async () => notAsked('nothing is judged here'),
  askSeller: async () => notAsked('nobody is asked here'),
  askHost: async () => ({ preflight: notAsked('nobody is asked here'), path: null }),
  turns: createOriginTurns({
    ...{ now: () => store.now(), runningScans: () => 0 },
    openClient: openFakeClient(),
  }),
  payments,
  signingKey: await openSigningKey(store.signingKeys, config.signingKey),
  log: pino({ level: config.logLevel }),
});
await payments.start();
process.send?.({
  listening: await app.listen({ port: 0, host: '127.0.0.1' }),
} satisfies ChildMessage);
process.on('message', async (message: Arm | Ask) => {
  if (!('ask' in message)) return;
  let open = 0;
  for await (const _entry of store.ledger.findUnfinished()) open += 1;
  process.send?.({ open } satisfies ChildMessage);
});
// A child whose parent is gone serves nobody.
process.on('disconnect', () => process.exit());
