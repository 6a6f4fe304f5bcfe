import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  isInDoubt,
  LedgerWriter,
  mayFollow,
  StepLost,
  toProgress,
} from '../../src/payment/ledger/ledger.ts';
import { StoreError } from '../../src/store/errors.ts';
import { LEDGER_STATES, type LedgerState } from '../../src/store/payment-tables.ts';
import { MEMORY, openSqlite } from '../../src/store/sqlite/store.ts';

const FACTS = { key: 'k', payer: 'p', request: 'work x', validBeforeMs: 1 };
const state = fc.constantFrom(...LEDGER_STATES);

test('a payment that may have moved money never becomes unclaimed again', () => {
  const reach = (from: LedgerState): Set<LedgerState> => {
    const seen = new Set<LedgerState>();
    const open = [from];
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      for (const to of LEDGER_STATES) {
        if (mayFollow(next, to) && !seen.has(to)) {
          seen.add(to);
          open.push(to);
        }
      }
    }
    return seen;
  };
  expect([...reach('unknown')].sort()).toEqual(['failed', 'published', 'settled', 'unknown']);
  expect([...reach('settled')]).toEqual(['published']);
  expect([...reach('published')]).toEqual([]);
  expect([...reach('failed')]).toEqual([]);
  expect(LEDGER_STATES.map((one) => [one, toProgress(one)])).toEqual([
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

test('nothing is settled without an intent, and no intent is written without an answer', () => {
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
  readonly takeOver: boolean;
};

/** Several writers of one key; each move checks the outcome that its writer must get. */
class Race {
  readonly store = openSqlite(MEMORY);
  readonly #ledgerWriters = new Map<number, LedgerWriter>();
  readonly #stopped = new Set<number>();
  written = 0;

  async play({ writer, state: to, takeOver }: Move): Promise<void> {
    const ledgerWriter = await this.#ledgerWriterOf(writer, takeOver);
    const isLegal = mayFollow(ledgerWriter.state, to);
    const outcome = await ledgerWriter.write(to, {}).then(
      () => 'won',
      (error: unknown) => (error instanceof StepLost ? 'lost' : 'illegal'),
    );
    if (this.#stopped.has(writer)) expect(outcome).toBe('lost');
    else expect(outcome === 'illegal').toBe(!isLegal);
    if (outcome === 'lost') this.#stopped.add(writer);
    if (outcome === 'won') this.written += 1;
  }

  async #ledgerWriterOf(writer: number, takeOver: boolean): Promise<LedgerWriter> {
    const { ledger } = this.store;
    const known = this.#ledgerWriters.get(writer);
    const entry = await ledger.findEntry('k');
    if (known !== undefined && !(takeOver && entry !== null)) return known;
    const ledgerWriter =
      entry === null
        ? new LedgerWriter(ledger, FACTS, null)
        : LedgerWriter.continueAfter(ledger, entry);
    this.#ledgerWriters.set(writer, ledgerWriter);
    this.#stopped.delete(writer);
    return ledgerWriter;
  }
}

test('however many writers race, the ledger holds one legal history, each step by one of them', async () => {
  const move = fc.record({ writer: fc.nat(3), state, takeOver: fc.boolean() });
  await fc.assert(
    fc.asyncProperty(fc.array(move, { maxLength: 40 }), async (moves) => {
      const race = new Race();
      for (const one of moves) await race.play(one);
      const rows = await race.store.ledger.findAllSteps('k');
      expect(rows).toHaveLength(race.written);
      expect(rows.map(({ step }) => step)).toEqual(rows.map((_row, index) => index + 1));
      rows.forEach((row, index) => {
        expect(mayFollow(rows[index - 1]?.state ?? 'none', row.state)).toBe(true);
      });
      await race.store.close();
    }),
    { numRuns: 60 },
  );
});

test('exactly one of ten writers at once claims', async () => {
  const store = openSqlite(MEMORY);
  const outcomes = await Promise.allSettled(
    Array.from({ length: 10 }, () =>
      new LedgerWriter(store.ledger, FACTS, null).write('claimed', {}),
    ),
  );
  expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  await store.close();
});

test('a writer whose reply was lost reads back that it won', async () => {
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
  const ledgerWriter = new LedgerWriter(lossyLedger, FACTS, null);
  await ledgerWriter.write('claimed', {});
  await ledgerWriter.write('computed', {});
  expect((await store.ledger.findEntry('k'))?.rows.map((row) => row.state)).toEqual([
    'claimed',
    'computed',
  ]);
  await store.close();
});
