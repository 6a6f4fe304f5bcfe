/** Kills of instances that run watches: two share a database, one has a file. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startMongoServer } from '../../fixtures/mongo-server/mongo-server.ts';
import { defineSoak, SEED, SoakImpossible } from '../../soak/soak.ts';
import { freshDatabase } from '../store/mongo-subject.ts';
import { playKills } from './kill-rig.ts';

async function openStore(instances: number, undo: AsyncDisposableStack): Promise<string> {
  if (instances > 1) {
    const server = await startMongoServer();
    if ('unavailable' in server) throw new SoakImpossible(server.unavailable);
    undo.use(server);
    return freshDatabase(server.uri);
  }
  const folder = await mkdtemp(join(tmpdir(), 'watch-kills-'));
  undo.defer(() => rm(folder, { recursive: true, force: true }));
  return `sqlite:${join(folder, 'scanner.db')}`;
}

export default defineSoak({
  flags: {
    kills: { from: 1, to: 100_000, usual: 200 },
    hosts: { from: 1, to: 8, usual: 1 },
    seed: { ...SEED, usual: 1 },
  },

  async play({ kills, hosts: instances, seed }) {
    await using undo = new AsyncDisposableStack();
    const storeUrl = await openStore(instances, undo);
    const onKill = (n: number) => {
      if (n % 20 === 0) console.log(`${n} kills`);
    };
    const { events } = await playKills({ storeUrl, instances, kills, seed, onKill });
    console.log(
      `${kills} kills of ${instances} ${instances === 1 ? 'instance' : 'instances'}: ${events} events, each in order`,
    );
    return true;
  },
});
