/** An instance is paused at each step of a sale, and resumes after another instance took over the sale. */
import { afterAll, describe, expect, test } from 'vitest';
import { PAYMENT_STEPS } from '../../src/service/payment/gate/purchase.ts';
import { chainUnavailable } from '../fixtures/chain/anvil-process.ts';
import { startMongoServer } from '../fixtures/mongo-server/mongo-server.ts';
import { needs } from '../fixtures/needs.ts';
import { startStopRig } from './stop-rig.ts';
import { playStoppedRuns } from './stopped-runs.ts';

const mongo = await startMongoServer();
afterAll(async () => {
  if ('uri' in mongo) await mongo[Symbol.asyncDispose]();
});
const missingTool = 'uri' in mongo ? chainUnavailable() : mongo.unavailable;

const RUNS = 20;
const SEED = 402;

describe(
  'when an instance is paused in the middle of a sale, and another instance ends the sale',
  needs(missingTool),
  () => {
    test(`every promise about payments holds in ${RUNS} sales`, { timeout: 300_000 }, async () => {
      await using rig = await startStopRig('uri' in mongo ? mongo.uri : '');
      const stoppedFailpoints = new Set<string>();
      const onPlayed = ({ sale }: { readonly sale: { readonly failpoint: string } }) =>
        stoppedFailpoints.add(sale.failpoint);
      const settledCount = await playStoppedRuns(rig, { runs: RUNS, seed: SEED, onPlayed });
      expect([...stoppedFailpoints].sort()).toEqual([...PAYMENT_STEPS].sort());
      expect(settledCount).toBeGreaterThan(0);
    });
  },
);
