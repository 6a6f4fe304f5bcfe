/** A fold that breaks off anywhere neither loses a host nor counts one twice. */
import { expect, test } from 'vitest';
import { Connection, MEMORY } from '../../src/store/sqlite/connection.ts';
import { openSchema } from '../../src/store/sqlite/schema.ts';
import { sqliteTables } from '../../src/store/sqlite/store.ts';
import { foldDays, insertHostDay, statisticsOn, utcDay } from '../../src/store/statistics.ts';
import type { Tables } from '../../src/store/tables.ts';
import { publishedScan } from './contract/samples.ts';
import { DAY_MS, TestClock } from './contract/test-clock.ts';

const HOSTS = 1_200;

type Break = 'before the call' | 'after the call';

test.each(['before the call', 'after the call'] as const)(
  'a fold broken off %s still counts each host once, at any call',
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
      const broken = withBreak(tables, call, when);
      isDone = await foldDays({ tables: broken, now }, now()).then(
        () => true,
        () => false,
      );
      const counts = async () =>
        (await statisticsOn({ tables, now }).sumCounters({ fromDay: day, toDay: day })).get(
          'origins',
        );
      // A day is counted whole or not at all.
      expect([undefined, HOSTS], `broken off at call ${call}`).toContain(await counts());
      await Promise.all([foldDays({ tables, now }, now()), foldDays({ tables, now }, now())]);
      expect(await counts(), `finished after call ${call}`).toBe(HOSTS);
      expect(await tables.hostDays.all({})).toEqual([]);
    }
  },
);

test.each(['before the call', 'after the call'] as const)(
  'if another instance folds %s, the days of few origins count once, at any call',
  async (when) => {
    let isDone = false;
    for (let at = 1; !isDone; at += 1) {
      using connection = openConnection();
      const tables = sqliteTables(connection.held);
      const clock = new TestClock();
      const { now } = clock;
      for (const hosts of [4, 3, 5, 2]) {
        for (let n = 0; n < hosts; n += 1) {
          await insertHostDay({ tables, now }, publishedScan({ host: `h${n}.com` }), ['origins']);
        }
        clock.advance(DAY_MS);
      }
      let calls = 0;
      const racing = withCalls(tables, async (call) => {
        calls += 1;
        const fold = () => foldDays({ tables, now }, now());
        if (calls === at && when === 'before the call') await fold();
        const answer = await call();
        if (calls === at && when === 'after the call') await fold();
        return answer;
      });
      await foldDays({ tables: racing, now }, now());
      isDone = calls < at;
      const today = utcDay(now());
      const blocks = [4, 3, 2, 1].map(async (daysAgo) => {
        const days = { fromDay: today - daysAgo, toDay: today - daysAgo };
        return (await statisticsOn({ tables, now }).sumCounters(days)).get('origins');
      });
      expect(await Promise.all(blocks), `at call ${at}`).toEqual([
        undefined,
        undefined,
        12,
        undefined,
      ]);
    }
  },
);

function openConnection() {
  const held = new Connection(MEMORY, MEMORY);
  openSchema(held);
  return { held, [Symbol.dispose]: () => held.close() };
}

/** Wraps the tables of statistics; the process breaks off at call number `last`. */
function withBreak(tables: Tables, last: number, when: Break): Tables {
  let calls = 0;
  const killed = new Error('killed');
  return withCalls(tables, async (call) => {
    calls += 1;
    if (calls > last || (calls === last && when === 'before the call')) throw killed;
    const answer = await call();
    if (calls >= last) throw killed;
    return answer;
  });
}

/** Wraps the tables of statistics; each call runs through `through`. */
function withCalls(
  tables: Tables,
  through: (call: () => Promise<unknown>) => Promise<unknown>,
): Tables {
  const guard = <T extends object>(table: T): T =>
    new Proxy(table, {
      get(target, name, receiver) {
        const method: unknown = Reflect.get(target, name, receiver);
        if (typeof method !== 'function' || name === 'batches') return method;
        return (...args: unknown[]) => through(async () => method.apply(target, args));
      },
    });
  return { ...tables, hostDays: guard(tables.hostDays), daySums: guard(tables.daySums) };
}
