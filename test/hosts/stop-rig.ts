/** Two instances on one database and one chain, each of which can be stopped at a point of a sale. */
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { PaymentStep } from '../../src/service/payment/gate/purchase.ts';
import { chainFacilitator } from '../fixtures/chain/chain-facilitator.ts';
import { startChain, type TestChain } from '../fixtures/chain/test-chain.ts';
import {
  type ChaosFacilitator,
  startChaosFacilitator,
} from '../service/payment/chaos-facilitator.ts';
import { type Fleet, startFleet } from './fleet.ts';
import { type InstanceProcess, untilSelling } from './instance-process.ts';

/** Silence of a second, and everything else in proportion. */
const TIME_SCALE = '0.05';
const SELLERS = 9;

/** An instance, and the file that arms it. */
export type Stoppable = {
  readonly instance: InstanceProcess;
  /** From here on it stops at the next passing of this point. */
  arm(failpoint: PaymentStep): Promise<void>;
  disarm(): Promise<void>;
};

export type StopRig = AsyncDisposable & {
  readonly chain: TestChain;
  readonly facilitator: ChaosFacilitator;
  readonly fleet: Fleet;
  readonly instances: readonly [Stoppable, Stoppable];
};

export async function startStopRig(mongoUri: string): Promise<StopRig> {
  await using undo = new AsyncDisposableStack();
  const chain = await startChain();
  undo.defer(() => chain[Symbol.asyncDispose]());
  const facilitator = undo.use(await startChaosFacilitator(chainFacilitator(chain)));
  const folder = await mkdtemp(join(tmpdir(), 'stopped-'));
  undo.defer(() => rm(folder, { recursive: true, force: true }));
  const settings = {
    NODE_ENV: 'test',
    RATE_LIMIT: 'off',
    TEST_TIME_SCALE: TIME_SCALE,
    PAYMENT_MODE: 'facilitator',
    FACILITATOR_URL: facilitator.url,
    RPC_URL: chain.rpcUrl,
  };
  const fleet = undo.use(await startFleet({ mongoUri, sellers: SELLERS, settings }));
  const start = async (name: string): Promise<Stoppable> => {
    const file = join(folder, name);
    const instance = await fleet.start({ X402_TEST_FAILPOINT: `@${file}` });
    await untilSelling(instance);
    return {
      instance,
      async arm(failpoint) {
        // Whole at once: the instance may look at any moment.
        await writeFile(`${file}.new`, `stop:${failpoint}`);
        await rename(`${file}.new`, file);
      },
      disarm: () => rm(file, { force: true }),
    };
  };
  const instances = await Promise.all([start('one'), start('other')] as const);
  const started = undo.move();
  return {
    chain,
    facilitator,
    fleet,
    instances,
    [Symbol.asyncDispose]: () => started.disposeAsync(),
  };
}
