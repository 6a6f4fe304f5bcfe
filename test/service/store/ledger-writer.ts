/**
 * The durability test starts and kills this process. It appends steps without end, and prints
 * each step that the store has answered.
 */
import { writeSync } from 'node:fs';
import { openStore } from '../../../src/service/store/open-store.ts';
import { ledgerStep, publishedScan } from './contract/samples.ts';

const store = await openStore(process.argv[2] ?? '');
for (let n = 1; ; n += 1) {
  await store.ledger.append(ledgerStep(`key-${n}`, 1, 'claimed', { data: { n } }));
  await store.publish(
    publishedScan({ scanId: `scan-${n}`, host: `h${n % 5}.com`, score: n % 100 }),
  );
  // The write is synchronous, so that each counted line was written before the kill.
  writeSync(1, `${n}\n`);
}
