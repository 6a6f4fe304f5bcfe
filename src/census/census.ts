import { NoPlace, underLease } from '../looks/in-turn.ts';
import { Rounds } from '../looks/rounds.ts';
import { DAY_LETTERS, type DayWord, SHOWN_DAYS } from '../model/availability.ts';
import { type FinishedScan, fromStoredReport } from '../scan/finished-scan.ts';
import type { CensusOrigin } from '../store/census.ts';
import { utcDay } from '../store/statistics.ts';
import type { DueOptions } from '../store/watches.ts';
import { toListing } from './listing.ts';
import { CensusLook, type CensusLookOptions, type CensusSight } from './look.ts';
import { OutageWindow } from './outage.ts';
import {
  DAY_MS,
  isScanDue,
  LISTED_FOR_DAYS,
  lookTimeMs,
  resourcesOf,
  silentUntilMs,
} from './plan.ts';

export type CensusOptions = CensusLookOptions & {
  /** Called once a host has its word. */
  readonly onWord?: ((word: DayWord) => void) | undefined;
};

const SECOND_MS = 1_000;
/** Looks that a crash cuts off, at most. */
export const LOOKS_AT_ONCE = 8;
/** After a stop as many are due as it lasted: they begin at this rate. */
export const LOOKS_A_SECOND = 4;
const REST_MS = 600 * SECOND_MS;
const LONGEST_REST_MS = 30 * DAY_MS;
const LOOK_LEASE_MS = 300_000;

/** Gives each origin its word of the day. Instances that share a store share the work. */
export class Census {
  readonly #options: CensusOptions;
  readonly #rounds: Rounds;
  readonly #window = new OutageWindow();
  #restUntilMs = 0;
  /** Hosts whose look found no room in the middle, and is tried again. */
  readonly #postponed = new Set<string>();
  /** When the newest looks began. */
  #begun: readonly number[] = [];

  constructor(options: CensusOptions) {
    this.#options = options;
    const { store, onError } = options;
    this.#rounds = new Rounds({
      atOnce: LOOKS_AT_ONCE,
      now: () => store.now(),
      firstDueMs: () => store.census.firstDueMs(),
      readDue: (due) => this.#readDue(due),
      work: (host) => this.#underLease(host, (row) => this.#lookIfDue(row)),
      messages: { unread: 'the census is not read', failed: 'the look at a host failed' },
      onError: (message, error) => onError(`census: ${message}`, error),
    });
  }

  start(): void {
    this.#rounds.start();
  }

  /** Begins all due looks; resolves once they have begun. */
  tick(): Promise<void> {
    return this.#rounds.tick();
  }

  /** Takes the word of a scan that was just published. */
  published(host: string): void {
    this.#rounds.begin(host, () =>
      this.#underLease(host, async (row) => {
        if (row.isChosen && (await this.#sayOfScan(row))) await this.#plan(row);
      }),
    );
  }

  /** Looks now, whatever the second of the host is. */
  lookNow(host: string): Promise<void> {
    return this.#underLease(host, (row) => this.#look(row));
  }

  /** Decides the looks that met no answer: no further look follows. */
  async settle(): Promise<void> {
    for (const host of this.#window.drain()) await this.#settleSilence(host, 'down');
  }

  idle(): Promise<void> {
    return this.#rounds.idle();
  }

  lateness(): number {
    return this.#rounds.latenessMs;
  }

  stop(graceMs = 0): Promise<void> {
    return this.#rounds.stop(graceMs);
  }

  async #readDue({ limit, ...due }: DueOptions): Promise<readonly string[]> {
    const { store } = this.#options;
    const nowMs = store.now();
    if (nowMs < this.#restUntilMs) return [];
    this.#begun = this.#begun.filter((atMs) => atMs > nowMs - SECOND_MS);
    const free = Math.max(0, LOOKS_A_SECOND - this.#begun.length);
    const hosts = await store.census.due({ ...due, limit: Math.min(limit, free) });
    this.#begun = [...this.#begun, ...hosts.map(() => nowMs)];
    return hosts;
  }

  #underLease(host: string, work: (row: CensusOrigin) => Promise<void>): Promise<void> {
    const { store } = this.#options;
    return underLease(store, ['census', host], LOOK_LEASE_MS, async () => {
      const row = await store.census.get(host);
      if (row !== null) await work(row);
    });
  }

  async #lookIfDue(row: CensusOrigin): Promise<void> {
    const nowMs = this.#options.store.now();
    if (row.lookAtMs > nowMs) return;
    if (row.silence !== null) return this.#settleSilence(row.host, 'down');
    const isMissed = utcDay(row.lookAtMs) < utcDay(nowMs);
    if (isMissed && (await this.#mayAsk(row)))
      await this.#say(row.host, utcDay(row.lookAtMs), 'not_checked');
    // Today's second is still to come.
    if (isMissed && lookTimeMs(row.host, utcDay(nowMs)) > nowMs)
      return this.#plan(row, utcDay(nowMs));
    await this.#look(row);
  }

  /** Gives today's word, from what is known or from a look. */
  async #look(row: CensusOrigin): Promise<void> {
    const { store } = this.#options;
    const { host, begunDay, restUntilMs } = row;
    const today = utcDay(store.now());
    if (row.silence !== null && begunDay === today) return;
    if (row.silence !== null) await this.#settleSilence(host, 'down');
    if (!(await this.#mayAsk(row))) return this.#passDay(row);
    const isDone = (await store.census.word(host, today)) !== null || (await this.#sayOfScan(row));
    if (isDone) return this.#plan(row);
    // A look that a crash cut off may have asked the origin; a seller's wish for rest is kept.
    const isCutOff = begunDay === today && !this.#postponed.has(host);
    const isOver = isCutOff || (restUntilMs ?? 0) > store.now();
    if (isOver) await this.#say(host, today, 'not_checked');
    else await this.#lookAt(row);
    if (isOver) await this.#plan(row);
  }

  async #lookAt(row: CensusOrigin): Promise<void> {
    const { store } = this.#options;
    const { host } = row;
    // Midnight may pass before the look ends.
    const day = utcDay(store.now());
    const look = new CensusLook(this.#options, row, day);
    const isScan = isScanDue(row, day);
    const sight = await this.#run(look, host, isScan);
    await this.#note(row, sight, { day, isScan });
    if (sight.isSilent) await this.#holdBack(host, sight.scan, day);
    else {
      await this.#publish(sight.scan);
      await this.#say(host, day, sight.word);
      await this.#plan(row, day + 1);
    }
    const decided = this.#window.add({ host, place: look.place, isSilent: sight.isSilent });
    if (decided.ours.length > 0) this.#restUntilMs = store.now() + REST_MS;
    for (const silent of decided.ours) await this.#settleSilence(silent, 'not_checked');
    for (const silent of decided.down) await this.#settleSilence(silent, 'down');
  }

  async #run(look: CensusLook, host: string, isScan: boolean): Promise<CensusSight> {
    try {
      const sight = await look.run(isScan);
      this.#postponed.delete(host);
      return sight;
    } catch (error) {
      if (error instanceof NoPlace) this.#postponed.add(host);
      throw error;
    }
  }

  /** Keeps what a look showed beside its word. */
  async #note(
    { host, listing, robots }: CensusOrigin,
    sight: CensusSight,
    { day, isScan }: { readonly day: number; readonly isScan: boolean },
  ): Promise<void> {
    const { store } = this.#options;
    const { scan, allowed, restMs } = sight;
    const restUntilMs = restMs === null ? null : store.now() + Math.min(restMs, LONGEST_REST_MS);
    // A scan that robots.txt refuses has its turn in a week again.
    const isRefused = isScan && allowed !== null && restMs === null;
    const isScanned = scan === null ? isRefused : !(scan.rateLimited || sight.isSilent);
    const known = toListing(listing);
    const resources = known.resources.length > 0 ? known.resources : resourcesOf(scan);
    await store.census.change(host, {
      restUntilMs,
      ...(allowed && { robots: { ...robots, ...allowed } }),
      ...(isScanned && { scannedDay: day }),
      ...(resources !== known.resources && { listing: { ...listing, resources } }),
    });
  }

  /** A look without any answer has no word before the looks after it show whose fault that is. */
  async #holdBack(host: string, scan: FinishedScan | null, day: number): Promise<void> {
    const { store } = this.#options;
    const lookAtMs = silentUntilMs(store.now(), day);
    await store.census.change(host, { silence: scan?.scanId ?? '', lookAtMs, begunDay: day });
  }

  async #settleSilence(host: string, word: 'down' | 'not_checked'): Promise<void> {
    const { store, scanCoordinator, onError } = this.#options;
    const row = await store.census.get(host);
    if (row === null || row.silence === null || row.begunDay === null) return;
    const isOpen = (await store.census.word(host, row.begunDay)) === null;
    if (isOpen && word === 'down' && row.silence !== '') {
      // The result of the scan may be purged by now.
      await scanCoordinator.publish(row.silence, 'census').catch((error: unknown) => {
        onError(`census: the scan of ${host} was not published`, error);
      });
    }
    await this.#say(host, row.begunDay, word);
    const isScanned = word === 'down' && row.silence !== '';
    const scanned = isScanned ? { scannedDay: row.begunDay } : {};
    await store.census.change(host, { silence: null, ...scanned });
    await this.#plan(row, row.begunDay + 1);
  }

  /** Says the word of a scan that was published today. */
  async #sayOfScan({ host }: CensusOrigin): Promise<boolean> {
    const { store } = this.#options;
    const today = utcDay(store.now());
    const result = await store.results.published(host);
    if (result === null || utcDay(result.scannedAtMs) !== today) return false;
    const { dayWord } = fromStoredReport(result);
    if (dayWord === null) return false;
    await store.census.change(host, { scannedDay: today });
    await this.#say(host, today, dayWord);
    return true;
  }

  async #publish(scan: FinishedScan | null): Promise<void> {
    // An origin that answered 429 alone was not seen.
    if (scan !== null && !scan.rateLimited)
      await this.#options.scanCoordinator.publish(scan.scanId, 'census');
  }

  async #say(host: string, day: number, word: DayWord): Promise<void> {
    const { store, onWord } = this.#options;
    if (await store.census.say(host, day, word)) onWord?.(word);
    await store.census.fold(host);
  }

  async #mayAsk({ host, isChosen, lastDay }: CensusOrigin): Promise<boolean> {
    const { store } = this.#options;
    if (!isChosen || lastDay < utcDay(store.now()) - LISTED_FOR_DAYS) return false;
    return (await store.listing.get(host)).settings.listed;
  }

  /** An origin that is not asked keeps its days until the last of them is over. */
  async #passDay(row: CensusOrigin): Promise<void> {
    const { census } = this.#options.store;
    await census.fold(row.host);
    const folded = await census.get(row.host);
    const isEmpty = folded?.letters === DAY_LETTERS.not_checked.repeat(SHOWN_DAYS);
    const isGone =
      row.lastDay < utcDay(this.#options.store.now()) - LISTED_FOR_DAYS || !row.isChosen;
    if (isEmpty && isGone) await census.remove(row.host);
    else await this.#plan(row);
  }

  /** Plans the look of a day; default: tomorrow. */
  async #plan({ host }: CensusOrigin, day = utcDay(this.#options.store.now()) + 1): Promise<void> {
    await this.#options.store.census.change(host, { lookAtMs: lookTimeMs(host, day) });
  }
}
