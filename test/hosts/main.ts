/** `npm run test:hosts -- [--runs N] [--seed N]`: instances that are stopped in the middle of sales. */
import { parseArgs } from 'node:util';
import { chainUnavailable } from '../fixtures/chain/anvil-process.ts';
import { startMongoServer } from '../fixtures/mongo-server/mongo-server.ts';
import { startStopRig } from './stop-rig.ts';
import { playStoppedRuns } from './stopped-runs.ts';

const DEFAULT_RUNS = '200';

const { runs, seed } = readOptions();
// Instances, chain and database end with this process: they listen for its exit.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
const mongo = await startMongoServer();
const lack = 'uri' in mongo ? chainUnavailable() : mongo.unavailable;
if (lack !== null || !('uri' in mongo)) {
  console.error(lack);
  process.exit(2);
}
try {
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
} finally {
  await mongo[Symbol.asyncDispose]();
}

/** Bad usage is one line, exit 2: nothing has been started yet. */
function readOptions(): { readonly runs: number; readonly seed: number } {
  try {
    const { values } = parseArgs({
      options: {
        runs: { type: 'string', default: DEFAULT_RUNS },
        seed: { type: 'string', default: String(Date.now() % 1_000_000) },
      },
    });
    return {
      runs: wholeNumber('--runs', values.runs),
      seed: wholeNumber('--seed', values.seed),
    };
  } catch (error) {
    const said = error instanceof Error ? error.message : String(error);
    console.error(`${said} (usage: npm run test:hosts -- [--runs N] [--seed N])`);
    process.exit(2);
  }
}

function wholeNumber(name: string, value: string): number {
  if (/^[1-9]\d{0,8}$/.test(value)) return Number(value);
  throw new Error(`${name} is "${value}": give a positive whole number`);
}
