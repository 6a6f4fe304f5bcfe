/** Statistics of an embedded store: the rows of this day, and thirty folded ones. */
import type { ScanReport } from '../../src/scanner/model/report.ts';
import { toTally } from '../../src/service/scans/finished-scan.ts';
import { Connection } from '../../src/service/store/sqlite/database.ts';
import { openSqliteTables } from '../../src/service/store/sqlite/store.ts';
import { utcDay } from '../../src/service/store/statistics.ts';
import { hostOf } from './seeded-store.ts';

const FOLDED_DAYS = 30;
/** Number of different prices, of two digits each like real prices. */
const PRICES = 180;

/** Writes `hosts` scans for today and for each of the thirty days before. */
export async function seedHostDays(
  database: string,
  { hosts, report, nowMs }: { readonly hosts: number; readonly report: ScanReport; nowMs: number },
): Promise<void> {
  const connection = new Connection(database, database);
  const today = utcDay(nowMs);
  const counters = toTally(report).filter((name) => !name.startsWith('price '));
  const sums: Record<string, number> = {};
  try {
    connection.exec('PRAGMA synchronous = OFF; BEGIN');
    const { hostDays, daySums } = openSqliteTables(connection);
    for (let n = 0; n < hosts; n += 1) {
      const tally = [...counters, `price ${priceOf(n)}`];
      for (const name of tally) sums[name] = (sums[name] ?? 0) + 1;
      const scanId = `00000000-0000-4000-9000-${String(n).padStart(12, '0')}`;
      const row = { day: today, host: hostOf(n), scanId, tally: JSON.stringify(tally) };
      await hostDays.insert(row);
    }
    for (let ago = 1; ago <= FOLDED_DAYS; ago += 1) {
      const day = today - ago;
      await daySums.insert({ day, attempt: String(day), sums: JSON.stringify(sums) });
    }
    connection.exec('COMMIT');
  } finally {
    connection.close();
  }
}

/** 0.0010 to 0.0099 dollars, then 0.010 to 0.099. */
function priceOf(n: number): number {
  const at = n % PRICES;
  return Number(((10 + (at % 90)) * (at < 90 ? 1e-4 : 1e-3)).toPrecision(2));
}
