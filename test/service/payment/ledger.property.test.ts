import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isInDoubt, toProgress } from '../../../src/service/payment/ledger/ledger.ts';
import {
  LedgerWriter,
  mayFollow,
  StepLost,
} from '../../../src/service/payment/ledger/ledger-writer.ts';
import { LEDGER_STATES, type LedgerState } from '../../../src/service/store/payment-tables.ts';
import { MEMORY, openSqlite } from '../../../src/service/store/sqlite/store.ts';
import { StoreError } from '../../../src/service/store/store-error.ts';

const PAYMENT = { key: 'k', payer: 'p', request: 'work x', validBeforeMs: 1 };
const anyState = fc.constantFrom(...LEDGER_STATES);

test('a payment that may have moved money never becomes unclaimed again', () => {
  const findReachable = (from: LedgerState): Set<LedgerState> => {
    const reachable = new Set<LedgerState>();
    const toVisit = [from];
    for (let next = toVisit.pop(); next !== undefined; next = toVisit.pop()) {
      for (const to of LEDGER_STATES) {
        if (mayFollow(next, to) && !reachable.has(to)) {
          reachable.add(to);
          toVisit.push(to);
        }
      }
    }
    return reachable;
  };
  expect([...findReachable('unknown')].sort()).toEqual([
    'failed',
    'published',
    'settled',
    'unknown',
  ]);
  expect([...findReachable('settled')]).toEqual(['published']);
  expect([...findReachable('published')]).toEqual([]);
  expect([...findReachable('failed')]).toEqual([]);
  expect(LEDGER_STATES.map((state) => [state, toProgress(state)])).toEqual([
    ['claimed', 'working'],
    ['computed', 'working'],
    ['settling', 'in_doubt'],
    ['settled', 'paid'],
    ['published', 'paid'],
    ['released', 'free'],
    ['failed', 'failed'],
    ['unknown', 'in_doubt'],
  ]);
});

test('no payment is settled without an intent to settle, and no intent is written before the answer is computed', () => {
  for (const from of LEDGER_STATES) {
    if (mayFollow(from, 'settled')) expect(isInDoubt(from)).toBe(true);
    if (mayFollow(from, 'settling')) expect(from).toBe('computed');
    if (mayFollow(from, 'published')) expect(from).toBe('settled');
  }
});

type Move = {
  readonly writer: number;
  readonly state: LedgerState;
  /** Continues from the last step of the ledger, like an instance that takes over. */
  readonly takesOver: boolean;
};

/** Several writers write steps of one payment. Each move checks that its writer gets the right outcome. */
class Race {
  readonly store = openSqlite(MEMORY);
  readonly #ledgerWriters = new Map<number, LedgerWriter>();
  readonly #stopped = new Set<number>();
  writtenSteps = 0;

  async play({ writer, state: to, takesOver }: Move): Promise<void> {
    const ledgerWriter = await this.#findWriter(writer, takesOver);
    const isLegal = mayFollow(ledgerWriter.state, to);
    const outcome = await ledgerWriter.write(to, {}).then(
      () => 'won',
      (error: unknown) => (error instanceof StepLost ? 'lost' : 'illegal'),
    );
    if (this.#stopped.has(writer)) expect(outcome).toBe('lost');
    else expect(outcome === 'illegal').toBe(!isLegal);
    if (outcome === 'lost') this.#stopped.add(writer);
    if (outcome === 'won') this.writtenSteps += 1;
  }

  async #findWriter(writer: number, takesOver: boolean): Promise<LedgerWriter> {
    const { ledger } = this.store;
    const existing = this.#ledgerWriters.get(writer);
    const entry = await ledger.findEntry('k');
    if (existing !== undefined && !(takesOver && entry !== null)) return existing;
    const ledgerWriter =
      entry === null
        ? new LedgerWriter(ledger, PAYMENT, null)
        : LedgerWriter.continueAfter(ledger, entry);
    this.#ledgerWriters.set(writer, ledgerWriter);
    this.#stopped.delete(writer);
    return ledgerWriter;
  }
}

test('however many writers race, the ledger has one legal sequence of steps, each written by one writer', async () => {
  const anyMove = fc.record({ writer: fc.nat(3), state: anyState, takesOver: fc.boolean() });
  await fc.assert(
    fc.asyncProperty(fc.array(anyMove, { maxLength: 40 }), async (moves) => {
      const race = new Race();
      for (const move of moves) await race.play(move);
      const rows = await race.store.ledger.findAllSteps('k');
      expect(rows).toHaveLength(race.writtenSteps);
      expect(rows.map(({ step }) => step)).toEqual(rows.map((_row, index) => index + 1));
      rows.forEach((row, index) => {
        expect(mayFollow(rows[index - 1]?.state ?? 'none', row.state)).toBe(true);
      });
      await race.store.close();
    }),
    { numRuns: 60 },
  );
});

test('exactly one of ten writers at the same time claims a payment', async () => {
  const store = openSqlite(MEMORY);
  const outcomes = await Promise.allSettled(
    Array.from({ length: 10 }, () =>
      new LedgerWriter(store.ledger, PAYMENT, null).write('claimed', {}),
    ),
  );
  expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  await store.close();
});

test('a writer that loses the reply of the store finds its own step and goes on', async () => {
  const store = openSqlite(MEMORY);
  let isFirst = true;
  const lossyLedger = {
    ...store.ledger,
    async append(row: Parameters<typeof store.ledger.append>[0]) {
      const outcome = await store.ledger.append(row);
      if (!isFirst) return outcome;
      isFirst = false;
      throw new StoreError('unavailable', 'the reply was lost');
    },
  };
  const ledgerWriter = new LedgerWriter(lossyLedger, PAYMENT, null);
  await ledgerWriter.write('claimed', {});
  await ledgerWriter.write('computed', {});
  expect((await store.ledger.findEntry('k'))?.rows.map((row) => row.state)).toEqual([
    'claimed',
    'computed',
  ]);
  await store.close();
});
