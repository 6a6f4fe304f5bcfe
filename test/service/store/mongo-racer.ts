/** The second process of the race tests runs orders, answers each with a number, and ends with its parent. */
import { openStore } from '../../../src/service/store/open-store.ts';
import { publishedScan } from './contract/samples.ts';
import { createRacers, type RacerOrder, SETTINGS } from './mongo-races.ts';

const PUBLISH_AT_ONCE = 4;

const url = process.argv[2] ?? '';
const store = await openStore(url);
await store.instances.join({ settings: SETTINGS });
const { race } = createRacers(store, url);

process.on('message', (order: RacerOrder) => {
  obey(order).then((answer) => process.send?.(answer));
});
process.on('disconnect', () => process.exit());
process.send?.('ready');

async function obey(order: RacerOrder): Promise<number> {
  if (order.kind === 'race') return race(order.decision, order.round);
  if (order.kind === 'publish') return publish(order.from, order.scans);
  return (await store.leases.takeSole([order.lease], 3_600_000)).taken ? 1 : 0;
}

async function publish(from: number, scans: number): Promise<number> {
  let next = from;
  const worker = async (): Promise<void> => {
    while (next < from + scans) {
      const n = next;
      next += 1;
      await store.publish(publishedScan({ scanId: `scan-${n}`, host: `h${n % 50}.com` }));
    }
  };
  await Promise.all(Array.from({ length: PUBLISH_AT_ONCE }, worker));
  return scans;
}
