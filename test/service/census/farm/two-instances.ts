/** A farm for two instances on one database. */
import { startMongoServer } from '../../../fixtures/mongo-server/mongo-server.ts';
import { dropDatabase, freshDatabase } from '../../store/mongo-subject.ts';
import { type Played, type PlayOptions, playDays } from './play.ts';

/** Plays two hours of each day. */
export async function playShared(
  options: Pick<PlayOptions, 'seed' | 'origins' | 'days'>,
): Promise<Played | { readonly unavailable: string }> {
  const server = await startMongoServer();
  if ('unavailable' in server) return server;
  await using undo = new AsyncDisposableStack();
  undo.use(server);
  const storeUrl = freshDatabase(server.uri);
  undo.defer(() => dropDatabase(storeUrl));
  return await playDays({ ...options, hours: [10, 12], realScans: 0, instances: 2, storeUrl });
}
