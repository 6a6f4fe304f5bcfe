/** A fold adds up the hosts of past days. If it is killed or races with another fold, each host still counts once. */
import { expect, test } from 'vitest';
import { Connection } from '../../../src/service/store/sqlite/database.ts';
import { MEMORY, openSchema, openSqliteTables } from '../../../src/service/store/sqlite/store.ts';
import {
  createStatisticsStore,
  foldDays,
  insertHostDay,
  utcDay,
} from '../../../src/service/store/statistics.ts';
import type { Tables } from '../../../src/service/store/tables.ts';
import { publishedScan } from './contract/samples.ts';
import { DAY_MS, TestClock } from './contract/test-clock.ts';

const HOST_COUNT = 1_200;

type Moment = 'before the call' | 'after the call';

test.each(['before the call', 'after the call'] as const)(
  'each host counts once if a fold is killed %s, for every call of the fold',
  async (when) => {
    using opened = openConnection();
    const tables = openSqliteTables(opened.connection);
    const clock = new TestClock();
    const { now } = clock;
    let isDone = false;
    for (let call = 1; !isDone; call += 1) {
      const day = utcDay(now());
      for (let n = 0; n < HOST_COUNT; n += 1) {
        await insertHostDay({ tables, now }, publishedScan({ host: `h${n}.com` }), ['origins']);
      }
      clock.advance(DAY_MS);
      const killedTables = withKill(tables, call, when);
      isDone = await foldDays({ tables: killedTables, now }, now()).then(
        () => true,
        () => false,
      );
      const sumOrigins = async () =>
        (
          await createStatisticsStore({ tables, now }).sumCounters({ fromDay: day, toDay: day })
        ).total.get('origins');
      // A fold counts all hosts of a day or none.
      expect([undefined, HOST_COUNT], `killed at call ${call}`).toContain(await sumOrigins());
      await Promise.all([foldDays({ tables, now }, now()), foldDays({ tables, now }, now())]);
      expect(await sumOrigins(), `finished after call ${call}`).toBe(HOST_COUNT);
      expect(await tables.hostDays.all({})).toEqual([]);
    }
  },
);

test.each(['before the call', 'after the call'] as const)(
  'the days of few origins count once if another instance folds %s, for every call of the fold',
  async (when) => {
    let isDone = false;
    for (let racedCall = 1; !isDone; racedCall += 1) {
      using opened = openConnection();
      const tables = openSqliteTables(opened.connection);
      const clock = new TestClock();
      const { now } = clock;
      for (const hosts of [4, 3, 5, 2]) {
        for (let n = 0; n < hosts; n += 1) {
          await insertHostDay({ tables, now }, publishedScan({ host: `h${n}.com` }), ['origins']);
        }
        clock.advance(DAY_MS);
      }
      let calls = 0;
      const racingTables = withCalls(tables, async (call) => {
        calls += 1;
        const fold = () => foldDays({ tables, now }, now());
        if (calls === racedCall && when === 'before the call') await fold();
        const answer = await call();
        if (calls === racedCall && when === 'after the call') await fold();
        return answer;
      });
      await foldDays({ tables: racingTables, now }, now());
      isDone = calls < racedCall;
      // Days are summed up until they have ten origins: 4 + 3 + 5. The last day waits for more.
      const today = utcDay(now());
      const daySums = [4, 3, 2, 1].map(async (daysAgo) => {
        const days = { fromDay: today - daysAgo, toDay: today - daysAgo };
        return (await createStatisticsStore({ tables, now }).sumCounters(days)).total.get(
          'origins',
        );
      });
      expect(await Promise.all(daySums), `at call ${racedCall}`).toEqual([
        undefined,
        undefined,
        12,
        undefined,
      ]);
    }
  },
);

function openConnection() {
  const connection = new Connection(MEMORY, MEMORY);
  openSchema(connection);
  return { connection, [Symbol.dispose]: () => connection.close() };
}

/** Wraps the tables of statistics, and fails like a killed process from call number `killedCall` on. */
function withKill(tables: Tables, killedCall: number, when: Moment): Tables {
  let calls = 0;
  const killed = new Error('killed');
  return withCalls(tables, async (call) => {
    calls += 1;
    if (calls > killedCall || (calls === killedCall && when === 'before the call')) throw killed;
    const answer = await call();
    if (calls >= killedCall) throw killed;
    return answer;
  });
}

/** Wraps the tables of statistics. Each call runs through `wrapCall`. */
function withCalls(
  tables: Tables,
  wrapCall: (call: () => Promise<unknown>) => Promise<unknown>,
): Tables {
  const wrapTable = <T extends object>(table: T): T =>
    new Proxy(table, {
      get(target, name, receiver) {
        const method: unknown = Reflect.get(target, name, receiver);
        if (typeof method !== 'function' || name === 'batches') return method;
        return (...args: unknown[]) => wrapCall(async () => method.apply(target, args));
      },
    });
  return { ...tables, hostDays: wrapTable(tables.hostDays), daySums: wrapTable(tables.daySums) };
}
