/** The service, in a process that may be killed at any moment. Settings come by the environment. */
import { loadConfig } from '../../src/service/config/config.ts';
import type { PaymentStep } from '../../src/service/payment/gate/purchase.ts';
import { openService } from '../../src/service/start/service.ts';
import { subscribeToSteps } from '../fixtures/failpoints.ts';
import { createFakeScanner } from '../scanner/scan/fake-scanner.ts';

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
const scanner = createFakeScanner(config.checksVersion);
const { app, store } = await openService(config, {
  hasNoTimers: true,
  scanning: {
    scanner: {
      ...scanner,
      async scan(...args) {
        await new Promise((resolve) => setTimeout(resolve, SCAN_MS));
        return scanner.scan(...args);
      },
    },
  },
});
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
