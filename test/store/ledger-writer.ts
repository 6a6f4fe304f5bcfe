/**
 * A process of its own for the durability test: appends steps without end and says on standard
 * output which of them the store has answered. Killed from outside.
 */
import { writeSync } from 'node:fs';
import { openStore } from '../../src/store/open-store.ts';
import { ledgerStep, publishedScan } from './contract/samples.ts';

const store = await openStore(process.argv[2] ?? '');
for (let n = 1; ; n += 1) {
  await store.ledger.append(ledgerStep(`key-${n}`, 1, 'claimed', { data: { n } }));
  await store.publish(
    publishedScan({ scanId: `scan-${n}`, host: `h${n % 5}.com`, score: n % 100 }),
  );
  // Synchronous: a line that was not written by the time of the kill must not be counted.
  writeSync(1, `${n}\n`);
}
