/** An instance that looks and delivers, and that may be killed at any step. Settings come by the environment. */
import { subscribe } from 'node:diagnostics_channel';
import { setTimeout as pause } from 'node:timers/promises';
import { parseAllowHosts } from '../../../src/scanner/guard/origin.ts';
import { ScanCoordinator } from '../../../src/service/scans/scan-coordinator.ts';
import { openStore } from '../../../src/service/store/open-store.ts';
import { createOriginTurns } from '../../../src/service/turns/origin-turns.ts';
import { STEPS_CHANNEL } from '../../../src/service/watch/change-watch.ts';
import { Watching } from '../../../src/service/watch/watching.ts';
import { createFakeScanner } from '../../scanner/scan/fake-scanner.ts';
import { openFakeClient, openRealClient } from '../turns/turn-clients.ts';
import { FAST, HOST, SETTINGS, TIME_SCALE } from './kill-settings.ts';
import { OFFER, toSellerScan } from './seller-report.ts';

const { STORE_URL = '', ALLOW = '', WORLD = '', KILL_AT = '' } = process.env;
const TICK_MS = 20;

const policy = { allowedPorts: [443], allowHosts: parseAllowHosts(ALLOW) };
const store = await openStore(STORE_URL, { timeScale: TIME_SCALE });
await store.instances.join({ settings: SETTINGS, waitMs: 10_000 });
const scanner = createFakeScanner();
const scanCoordinator = new ScanCoordinator({ scanner, store, catalogFacts: {} });
let stepsLeft = Number(KILL_AT);

/** Returns the seller's current price. */
async function findPrice(): Promise<string> {
  return (await fetch(WORLD)).text();
}

subscribe(STEPS_CHANNEL, () => {
  stepsLeft -= 1;
  if (stepsLeft === 0) process.kill(process.pid, 'SIGKILL');
});

const watching = new Watching({
  store,
  siteUrl: 'https://scanner.example',
  policy,
  timing: FAST,
  turns: createOriginTurns({
    ...{ now: () => store.now(), countPaidScans: () => 0 },
    openClient: (kind, limits) =>
      (kind === 'webhook' ? openRealClient({ policy, userAgent: 'test' }) : openFakeClient())(
        kind,
        limits,
      ),
  }),
  scanCoordinator: {
    async run(origin, options) {
      scanner.will(HOST, toSellerScan({}, { ...OFFER, amount: await findPrice() }));
      return scanCoordinator.run(origin, options);
    },
  },
  async askResources(_origin, resources) {
    const amount = await findPrice();
    const more = {
      pointer: '/accepts/0',
      maxTimeoutSeconds: 60,
      price: null,
      client: 'signs',
    } as const;
    return resources.map((resource) => ({
      ...resource,
      kind: 'answered' as const,
      payableBy: 'default' as const,
      offers: [{ ...OFFER, ...more, amount, isTestnet: false }],
      p3Failure: null,
    }));
  },
  onError: (message, error) => console.error(message, error),
});
process.send?.('ready');
process.on('disconnect', () => process.exit());
for (;;) {
  await watching.tick();
  await pause(TICK_MS);
}
