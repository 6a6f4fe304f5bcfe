/** `npm run test:watch -- --kills 200 --hosts 2 --seed 1`: two instances share a database. One instance has a file. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { playKills } from './kill-rig.ts';

const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: '200' },
    hosts: { type: 'string', default: '1' },
    seed: { type: 'string', default: '1' },
  },
});
const kills = Number(values.kills);
const instances = Number(values.hosts);
const onKill = (n: number) => {
  if (n % 20 === 0) console.log(`${n} kills`);
};

async function findStore(undo: AsyncDisposableStack): Promise<string> {
  if (instances > 1) {
    const { startMongoServer } = await import('../fixtures/mongo-server/mongo-server.ts');
    const server = await startMongoServer();
    if ('unavailable' in server) throw new Error(server.unavailable);
    undo.use(server);
    const { freshDatabase } = await import('../store/mongo-subject.ts');
    return freshDatabase(server.uri);
  }
  const folder = await mkdtemp(join(tmpdir(), 'watch-kills-'));
  undo.defer(() => rm(folder, { recursive: true, force: true }));
  return `sqlite:${join(folder, 'scanner.db')}`;
}

await using undo = new AsyncDisposableStack();
const storeUrl = await findStore(undo);
const { events } = await playKills({
  storeUrl,
  instances,
  kills,
  seed: Number(values.seed),
  onKill,
});
console.log(
  `${kills} kills of ${instances} ${instances === 1 ? 'instance' : 'instances'}: ${events} events, each in order`,
);
