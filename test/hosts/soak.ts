/** Instances that are stopped in the middle of sales, and wake. */
import { chainUnavailable } from '../fixtures/chain/anvil-process.ts';
import { startMongoServer } from '../fixtures/mongo-server/mongo-server.ts';
import { defineSoak, SEED, SoakImpossible } from '../soak/soak.ts';
import { startStopRig } from './stop-rig.ts';
import { playStoppedRuns } from './stopped-runs.ts';

export default defineSoak({
  flags: { runs: { from: 1, to: 100_000, usual: 200 }, seed: SEED },

  // Instances, chain and database listen for the exit of this process.
  async play({ runs, seed }) {
    const lack = chainUnavailable();
    if (lack !== null) throw new SoakImpossible(lack);
    const mongo = await startMongoServer();
    if ('unavailable' in mongo) throw new SoakImpossible(mongo.unavailable);
    await using _database = mongo;
    await using rig = await startStopRig(mongo.uri);
    console.log(`${runs} sales, seed ${seed}`);
    const settled = await playStoppedRuns(rig, {
      runs,
      seed,
      onPlayed({ sale, calls }, run) {
        const statuses = calls.map(({ status }) => status || 'hung up').join(', ');
        console.log(`ok ${run}: ${sale.failpoint}; ${sale.retry}; ${sale.wake}: ${statuses}`);
      },
    });
    console.log(`ok: ${runs} sales, ${settled} payments settled; every promise holds`);
    return true;
  },
});
