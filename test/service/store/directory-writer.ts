/** Publishes and hides hosts in the store that the first argument names until the process is killed. */
import { openSqlite } from '../../../src/service/store/sqlite/store.ts';
import { publishedScan } from './contract/samples.ts';

const store = openSqlite(process.argv[2] ?? '');
for (let n = 0; ; n += 1) {
  const host = `h${n % 200}.example.com`;
  await store.publish(publishedScan({ host, scannedAtMs: n, grade: n % 2 ? 'A' : 'C' }));
  if (n % 3 === 0) await store.listing.set(host, { listed: n % 2 === 0 });
  if (n === 300) process.stdout.write('300 hosts\n');
}
