/** A fold that breaks off anywhere neither loses a host nor counts one twice. */
import { expect, test } from 'vitest';
import { utcDay } from '../../src/store/contract/statistics.ts';
import { foldDays, insertHostDay, statisticsOn } from '../../src/store/shared/statistics.ts';
import type { Tables } from '../../src/store/shared/tables.ts';
import { Connection, MEMORY } from '../../src/store/sqlite/connection.ts';
import { migrate } from '../../src/store/sqlite/migrate.ts';
import { sqliteTables } from '../../src/store/sqlite/store.ts';
import { publishedScan } from './contract/samples.ts';
import { DAY_MS, TestClock } from './contract/test-clock.ts';

const HOSTS = 1_200;

type Break = 'before the call' | 'after the call';

test.each(['before the call', 'after the call'] as const)(
  'broken off %s, whichever call it is',
  async (when) => {
    using connection = openConnection();
    const tables = sqliteTables(connection.held);
    const clock = new TestClock();
    const { now } = clock;
    let isDone = false;
    for (let call = 1; !isDone; call += 1) {
      const day = utcDay(now());
      for (let n = 0; n < HOSTS; n += 1) {
        await insertHostDay({ tables, now }, publishedScan({ host: `h${n}.com` }), ['origins']);
      }
      clock.advance(DAY_MS);
      const broken = breaking(tables, call, when);
      isDone = await foldDays({ tables: broken, now }, now()).then(
        () => true,
        () => false,
      );
      const counts = async () =>
        (await statisticsOn({ tables, now }).counts({ fromDay: day, toDay: day })).get('origins');
      expect(await counts(), `broken off at call ${call}`).toBe(HOSTS);
      await Promise.all([foldDays({ tables, now }, now()), foldDays({ tables, now }, now())]);
      expect(await counts(), `finished after call ${call}`).toBe(HOSTS);
      expect(await tables.hostDays.all({})).toEqual([]);
    }
  },
);

test.each(['before', 'after'] as const)(
  'a day that is folded %s its sum is looked for counts once',
  async (when) => {
    using connection = openConnection();
    const tables = sqliteTables(connection.held);
    const { now } = new TestClock();
    const day = utcDay(now());
    await insertHostDay({ tables, now }, publishedScan(), ['origins']);
    const folding = <T extends object>(table: T): T =>
      new Proxy(table, {
        get(target, name, receiver) {
          const method: unknown = Reflect.get(target, name, receiver);
          if (name !== 'all' || typeof method !== 'function') return method;
          return async (...args: unknown[]) => {
            const fold = () => foldDays({ tables, now }, now() + DAY_MS);
            if (when === 'before') await fold();
            const answer: unknown = await method.apply(target, args);
            if (when === 'after') await fold();
            return answer;
          };
        },
      });
    const racing = { ...tables, daySums: folding(tables.daySums) };
    const read = await statisticsOn({ tables: racing, now }).counts({ fromDay: day, toDay: day });
    expect(read).toEqual(new Map([['origins', 1]]));
  },
);

function openConnection() {
  const held = new Connection(MEMORY, MEMORY);
  migrate(held);
  return { held, [Symbol.dispose]: () => held.close() };
}

/** The tables of statistics, whose call of this number is the last one of its process. */
function breaking(tables: Tables, last: number, when: Break): Tables {
  let calls = 0;
  const killed = new Error('killed');
  const guard = <T extends object>(table: T): T =>
    new Proxy(table, {
      get(target, name, receiver) {
        const method: unknown = Reflect.get(target, name, receiver);
        if (typeof method !== 'function' || name === 'batches') return method;
        return async (...args: unknown[]) => {
          calls += 1;
          if (calls > last || (calls === last && when === 'before the call')) throw killed;
          const answer: unknown = await method.apply(target, args);
          if (calls >= last) throw killed;
          return answer;
        };
      },
    });
  return { ...tables, hostDays: guard(tables.hostDays), daySums: guard(tables.daySums) };
}
