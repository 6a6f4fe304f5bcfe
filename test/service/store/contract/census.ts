/** Both stores: the words of the census. */
import { describe, expect, test } from 'vitest';
import {
  DAY_LETTERS,
  DAY_WORDS,
  type DayWord,
  type PayableFilter,
} from '../../../../src/scanner/model/payability.ts';
import type { DirectoryQuery } from '../../../../src/service/store/context.ts';
import { utcDay } from '../../../../src/service/store/statistics.ts';
import type { Store } from '../../../../src/service/store/store.ts';
import { diceOf } from '../../../fixtures/dice.ts';
import { listOrigin, writeCensusWords } from './census-words.ts';
import { publishedScan } from './samples.ts';
import type { ContractSubject } from './subject.ts';
import { DAY_MS, freshWithClock, HOUR_MS, type TestClock } from './test-clock.ts';

const HOST = 'api.example.com';
const SHOWN_DAYS = 30;
const TODAY_MS = 36 * HOUR_MS;

/** The letters of seven days, newest last, and whether such a week is payable. */
const WEEKS: readonly (readonly [letters: string, isPayable: boolean])[] = [
  ['ppppppp', true],
  ['npppppp', true],
  ['pppppdp', true],
  ['pnppppp', true],
  ['nnppppp', false],
  ['ppppddp', false],
  ['-nppppp', false],
  ['-pppppp', true],
  ['----ppp', true],
  ['ppp----', true],
  ['-----pp', false],
  ['p-----p', false],
  ['---nppp', false],
  ['-------', false],
  ['nnnnnnn', false],
];

export function censusRemembers(subject: ContractSubject): void {
  describe('census', () => {
    test('has one word for each host and day, even if many writers race', async () => {
      const { clock, store } = await openCensus(subject, [HOST, 'other.example.com']);
      const today = utcDay(clock.now());
      const racers = Array.from({ length: 8 }, (_, n) => DAY_WORDS[n % 4] ?? 'down');
      const won = await Promise.all(
        racers.map((word) => store.census.insertWord(HOST, today, word)),
      );
      const winners = racers.filter((_, n) => won[n]);
      expect(winners).toHaveLength(1);
      expect(await store.census.findWord(HOST, today)).toBe(winners[0]);
      expect(await store.census.insertWord(HOST, today, 'payable')).toBe(false);
      expect(await store.census.insertWord('other.example.com', today, 'down')).toBe(true);
      expect(await store.census.insertWord(HOST, today + 1, 'payable')).toBe(true);
      const again = await subject.restart(store, { clock: clock.now });
      expect(await again.census.insertWord(HOST, today, 'down')).toBe(false);
      expect(await again.census.findWord(HOST, today)).toBe(winners[0]);
    });

    test('folds words into 30 letters, which move on day by day and equal a recount', async () => {
      let { clock, store } = await openCensus(subject, [HOST]);
      await store.publish(publishedScan({ host: HOST }));
      const dice = diceOf(41);
      const wordsByDay = new Map<number, DayWord>();
      for (let day = 0; day < 45; day += 1) {
        const word = DAY_WORDS[dice.below(6)];
        if (word !== undefined) {
          wordsByDay.set(utcDay(clock.now()), word);
          await store.census.insertWord(HOST, utcDay(clock.now()), word);
          await store.census.fold(HOST);
          await store.census.fold(HOST);
        }
        if (day % 15 === 14) store = await subject.restart(store, { clock: clock.now });
        if (wordsByDay.size > 0) await expectLetters(store, clock, wordsByDay);
        clock.advance(DAY_MS);
        if (wordsByDay.size > 0) await expectLetters(store, clock, wordsByDay);
      }
    });

    test('removes words that no letter shows', async () => {
      const { clock, store } = await openCensus(subject, [HOST]);
      const first = utcDay(clock.now());
      await store.census.insertWord(HOST, first, 'payable');
      await store.census.insertWord(HOST, first + 1, 'down');
      clock.advance((SHOWN_DAYS - 1) * DAY_MS);
      await store.census.fold(HOST);
      expect(await store.census.findWord(HOST, first)).toBe('payable');
      clock.advance(DAY_MS);
      await store.census.fold(HOST);
      expect(await store.census.findWord(HOST, first)).toBeNull();
      expect(await store.census.findWord(HOST, first + 1)).toBe('down');
    });

    test('counts the newest word as the one of today for 36 hours, in records and lists', async () => {
      const { clock, store } = await openCensus(subject, [HOST]);
      await store.publish(publishedScan({ host: HOST }));
      const today = async () => (await store.directory.get(HOST))?.availability?.today;
      await say(store, clock, HOST, 'payable');
      clock.advance(TODAY_MS - 1);
      expect([await today(), await payableHosts(store, 'today')]).toEqual(['payable', [HOST]]);
      clock.advance(1);
      expect([await today(), await payableHosts(store, 'today')]).toEqual([null, []]);
      await say(store, clock, HOST, 'not_checked');
      expect([await today(), await payableHosts(store, 'today')]).toEqual(['not_checked', []]);
      clock.advance(DAY_MS);
      await say(store, clock, HOST, 'payable');
      expect([await today(), await payableHosts(store, 'today')]).toEqual(['payable', [HOST]]);
    });

    test('calls a week payable if 3 days were checked, and 6 in 7 of those were payable', async () => {
      const hosts = WEEKS.map((_, n) => `w${n}.example.com`);
      const { store } = await openCensus(subject, hosts);
      for (const [n, [letters]] of WEEKS.entries()) {
        await store.publish(publishedScan({ host: hosts[n] ?? '' }));
        await writeCensusWords(store, hosts[n] ?? '', letters);
      }
      const expected = hosts.filter((_, n) => WEEKS[n]?.[1]);
      expect(await payableHosts(store, 'week')).toEqual(expected.toSorted());
    });

    test('lists the hosts whose records show a payable week, on each later day', async () => {
      const dice = diceOf(7);
      const hosts = Array.from({ length: 40 }, (_, n) => `h${n}.example.com`);
      const { clock, store } = await openCensus(subject, hosts);
      for (const host of hosts) {
        await store.publish(publishedScan({ host }));
        const letters = Array.from({ length: 9 }, () => 'pppppnd-'.charAt(dice.below(8)));
        await writeCensusWords(store, host, letters.join(''));
      }
      const sizes = new Set<number>();
      for (let day = 0; day < 9; day += 1) {
        const { records } = await store.directory.list({ ...QUERY, pageSize: 100 });
        const expected = records.filter(({ availability }) => isPayableWeek(availability?.days));
        const shown = await payableHosts(store, 'week');
        expect(shown).toEqual(expected.map(({ host }) => host).toSorted());
        sizes.add(shown.length);
        clock.advance(DAY_MS);
      }
      expect(sizes.size).toBeGreaterThan(3);
    });

    test('says nothing of a host without a word', async () => {
      const { store } = await openCensus(subject, [HOST]);
      for (const host of [HOST, 'never-listed.example.com']) {
        await store.publish(publishedScan({ host }));
        expect((await store.directory.get(host))?.availability).toBeNull();
      }
      await store.census.fold(HOST);
      expect((await store.directory.get(HOST))?.availability).toBeNull();
      expect([await payableHosts(store, 'today'), await payableHosts(store, 'week')]).toEqual([
        [],
        [],
      ]);
    });

    test('lists payable hosts with their count, page by page, without those that opted out', async () => {
      const hosts = Array.from({ length: 7 }, (_, n) => `h${n}.example.com`);
      const { store } = await openCensus(subject, hosts);
      for (const [n, host] of hosts.entries()) {
        const { branding, ...scan } = publishedScan({ host, scannedAtMs: 1_000 + n });
        const category = n % 2 === 0 ? 'data' : 'media';
        await store.publish({ ...scan, branding: { ...branding, category } });
        await writeCensusWords(store, host, n < 5 ? 'ppp' : 'ppn');
      }
      await store.listing.set('h3.example.com', { listed: false });
      for (const payable of ['today', 'week'] as const) {
        const page = (number: number) => ({ ...QUERY, payable, page: number, pageSize: 3 });
        const first = await store.directory.list(page(0));
        const second = await store.directory.list(page(1));
        expect([first.count, second.count]).toEqual([4, 4]);
        expect([...first.records, ...second.records].map(({ host }) => host)).toEqual([
          'h4.example.com',
          'h2.example.com',
          'h1.example.com',
          'h0.example.com',
        ]);
        expect((await store.directory.list(page(2))).records).toEqual([]);
        const combined = { ...QUERY, payable, category: 'data', sort: 'grade', q: 'h' } as const;
        expect((await store.directory.list(combined)).count).toBe(3);
        expect((await store.directory.list({ ...combined, verified: true })).count).toBe(0);
      }
      await store.listing.set('h3.example.com', { listed: true });
      expect(await payableHosts(store, 'today')).toContain('h3.example.com');
    });

    test('lists a host whose record is published after its words', async () => {
      const { clock, store } = await openCensus(subject, [HOST]);
      await writeCensusWords(store, HOST, 'ppp');
      expect(await payableHosts(store, 'today')).toEqual([]);
      await store.publish(publishedScan({ host: HOST, paidBy: 'census' }));
      expect(await payableHosts(store, 'today')).toEqual([HOST]);
      expect(await payableHosts(store, 'week')).toEqual([HOST]);
      expect((await store.directory.get(HOST))?.availability).toEqual({
        today: 'payable',
        payableDays: 3,
        checkedDays: 3,
        days: 'ppp'.padStart(SHOWN_DAYS, '-'),
      });
      // A later scan does not change the words.
      await store.publish(publishedScan({ host: HOST, scannedAtMs: clock.now() + 1 }));
      expect(await payableHosts(store, 'week')).toEqual([HOST]);
    });

    test('forgets the words of an origin that is removed', async () => {
      const { clock, store } = await openCensus(subject, [HOST]);
      await store.publish(publishedScan({ host: HOST }));
      await say(store, clock, HOST, 'payable');
      await store.census.remove(HOST);
      expect(await store.census.findWord(HOST, utcDay(clock.now()))).toBeNull();
      expect((await store.directory.get(HOST))?.availability).toBeNull();
    });
  });
}

const QUERY: DirectoryQuery = { sort: 'recent', page: 0, pageSize: 50 };

export async function openCensus(subject: ContractSubject, hosts: readonly string[]) {
  const { clock, store } = await freshWithClock(subject);
  for (const host of hosts) await listOrigin(store, host);
  return { clock, store };
}

/** Writes today's word as a look does. */
export async function say(
  store: Store,
  clock: TestClock,
  host: string,
  word: DayWord,
): Promise<void> {
  await store.census.insertWord(host, utcDay(clock.now()), word);
  await store.census.fold(host);
}

/** Lists all hosts that the filter selects, sorted by name. */
async function payableHosts(store: Store, payable: PayableFilter): Promise<readonly string[]> {
  const { count, records } = await store.directory.list({ ...QUERY, payable });
  expect(count).toBe(records.length);
  return records.map(({ host }) => host).toSorted();
}

async function expectLetters(
  store: Store,
  clock: TestClock,
  said: ReadonlyMap<number, DayWord>,
): Promise<void> {
  const today = utcDay(clock.now());
  const days = Array.from({ length: SHOWN_DAYS }, (_, n) => {
    const word = said.get(today - SHOWN_DAYS + 1 + n);
    return word === undefined ? '-' : DAY_LETTERS[word];
  }).join('');
  const record = await store.directory.get(HOST);
  expect(record?.availability).toEqual({
    // At noon, the word of yesterday still counts as the word of today. An older word does not.
    today: said.get(today) ?? said.get(today - 1) ?? null,
    payableDays: days.replaceAll(/[^p]/g, '').length,
    checkedDays: days.replaceAll('-', '').length,
    days,
  });
}

export function isPayableWeek(days = ''): boolean {
  const checked = days.slice(-7).replaceAll('-', '');
  const payable = checked.replaceAll(/[^p]/g, '').length;
  return checked.length >= 3 && payable / checked.length >= 6 / 7;
}
