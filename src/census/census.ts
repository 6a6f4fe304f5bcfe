import { LimitReached, withLease } from '../looks/in-turn.ts';
import { Rounds } from '../looks/rounds.ts';
import { DAY_LETTERS, type DayWord, SHOWN_DAYS } from '../model/availability.ts';
import { type FinishedScan, fromStoredReport } from '../scan/finished-scan.ts';
import type { CensusOrigin } from '../store/census.ts';
import { utcDay } from '../store/statistics.ts';
import type { DueOptions } from '../store/watches.ts';
import { toListing } from './listing.ts';
import { CensusLook, type CensusLookOptions, type CensusLookResult } from './look.ts';
import { OutageWindow } from './outage.ts';
import {
  DAY_MS,
  findResources,
  findWordDeadlineMs,
  isScanDue,
  LISTED_FOR_DAYS,
  lookTimeMs,
} from './plan.ts';

export type CensusOptions = CensusLookOptions & {
  /** Called when the word of a host's day is stored. */
  readonly onWord?: ((word: DayWord) => void) | undefined;
};

const SECOND_MS = 1_000;
/** Looks that run or wait at the same time. A crash interrupts no more than these. */
export const MAX_LOOKS = 8;
/** Many looks are due after a long stop of the service. */
export const MAX_LOOKS_PER_SECOND = 4;
const OUTAGE_PAUSE_MS = 600 * SECOND_MS;
const MAX_REST_MS = 30 * DAY_MS;
const LOOK_LEASE_MS = 300_000;

/** Stores one word a day for each origin. Instances that share a store share the work. */
export class Census {
  readonly #options: CensusOptions;
  readonly #rounds: Rounds;
  readonly #outages = new OutageWindow();
  #pausedUntilMs = 0;
  /** Hosts whose look met a limit after its start. The look is tried again. */
  readonly #postponed = new Set<string>();
  /** Start times of the looks of the last second. */
  #recentStartsMs: readonly number[] = [];

  constructor(options: CensusOptions) {
    this.#options = options;
    const { store, onError } = options;
    this.#rounds = new Rounds({
      maxRunning: MAX_LOOKS,
      now: () => store.now(),
      findFirstDueMs: () => store.census.findFirstDueMs(),
      readDue: (due) => this.#readDue(due),
      runTask: (host) => this.#withLease(host, (row) => this.#lookIfDue(row)),
      messages: {
        dueTasksUnread: 'the due hosts were not read',
        taskFailed: 'the look at a host failed',
      },
      onError: (message, error) => onError(`census: ${message}`, error),
    });
  }

  start(): void {
    this.#rounds.start();
  }

  /** Begins all due looks. Resolves when they have begun. */
  tick(): Promise<void> {
    return this.#rounds.tick();
  }

  /** Uses a scan that was just published as the look of its day. */
  onPublished(host: string): void {
    this.#rounds.begin(host, () =>
      this.#withLease(host, async (row) => {
        if (row.isChosen && (await this.#useScanOfToday(row))) await this.#planLook(row.host);
      }),
    );
  }

  /** Looks without waiting for the host's second of the day. */
  lookNow(host: string): Promise<void> {
    return this.#withLease(host, (row) => this.#look(row));
  }

  /** Stores `down` for all silent hosts that still have no word. Call it after the last look of a run. */
  async decideSilentHosts(): Promise<void> {
    for (const host of this.#outages.drain()) await this.#decideSilence(host, 'down');
  }

  idle(): Promise<void> {
    return this.#rounds.idle();
  }

  get latenessMs(): number {
    return this.#rounds.latenessMs;
  }

  stop(graceMs = 0): Promise<void> {
    return this.#rounds.stop(graceMs);
  }

  async #readDue({ limit, ...due }: DueOptions): Promise<readonly string[]> {
    const { store } = this.#options;
    const nowMs = store.now();
    if (nowMs < this.#pausedUntilMs) return [];
    this.#recentStartsMs = this.#recentStartsMs.filter((atMs) => atMs > nowMs - SECOND_MS);
    const allowed = Math.max(0, MAX_LOOKS_PER_SECOND - this.#recentStartsMs.length);
    const hosts = await store.census.findDue({ ...due, limit: Math.min(limit, allowed) });
    this.#recentStartsMs = [...this.#recentStartsMs, ...hosts.map(() => nowMs)];
    return hosts;
  }

  #withLease(host: string, work: (row: CensusOrigin) => Promise<void>): Promise<void> {
    const { store } = this.#options;
    return withLease(store, ['census', host], LOOK_LEASE_MS, async () => {
      const row = await store.census.get(host);
      if (row !== null) await work(row);
    });
  }

  async #lookIfDue(row: CensusOrigin): Promise<void> {
    const nowMs = this.#options.store.now();
    if (row.lookAtMs > nowMs) return;
    if (row.silence !== null) return this.#decideSilence(row.host, 'down');
    const isMissed = utcDay(row.lookAtMs) < utcDay(nowMs);
    if (isMissed && (await this.#mayAsk(row)))
      await this.#storeWord(row.host, utcDay(row.lookAtMs), 'not_checked');
    // The host's second of the day is still to come.
    if (isMissed && lookTimeMs(row.host, utcDay(nowMs)) > nowMs)
      return this.#planLook(row.host, utcDay(nowMs));
    await this.#look(row);
  }

  /** Stores today's word, from a scan that was published today, or else from a look. */
  async #look(row: CensusOrigin): Promise<void> {
    const { store } = this.#options;
    const { host, begunDay, restUntilMs } = row;
    const today = utcDay(store.now());
    if (row.silence !== null && begunDay === today) return;
    if (row.silence !== null) await this.#decideSilence(host, 'down');
    if (!(await this.#mayAsk(row))) return this.#skipDay(row);
    const word = await store.census.findWord(host, today);
    if (word !== null || (await this.#useScanOfToday(row))) return this.#planLook(row.host);
    // A crash interrupted the look, which may have asked the origin already.
    const wasInterrupted = begunDay === today && !this.#postponed.has(host);
    // `restUntilMs` is the end of the origin's Retry-After.
    if (!wasInterrupted && (restUntilMs ?? 0) <= store.now()) return this.#askOrigin(row);
    await this.#storeWord(host, today, 'not_checked');
    await this.#planLook(row.host);
  }

  async #askOrigin(row: CensusOrigin): Promise<void> {
    const { store } = this.#options;
    const { host } = row;
    // Midnight may pass before the look ends.
    const day = utcDay(store.now());
    const look = new CensusLook(this.#options, row, day);
    const isScan = isScanDue(row, day);
    const result = await this.#runLook(look, host, isScan);
    await this.#storeFindings(row, result, { day, isScan });
    if (result.isSilent) await this.#postponeWord(host, result.scan, day);
    else {
      await this.#publish(result.scan);
      await this.#storeWord(host, day, result.word);
      await this.#planLook(row.host, day + 1);
    }
    const { notChecked, down } = this.#outages.add({ ...result, host, network: look.network });
    if (notChecked.length > 0) this.#pausedUntilMs = store.now() + OUTAGE_PAUSE_MS;
    for (const silentHost of notChecked) await this.#decideSilence(silentHost, 'not_checked');
    for (const silentHost of down) await this.#decideSilence(silentHost, 'down');
  }

  async #runLook(look: CensusLook, host: string, isScan: boolean): Promise<CensusLookResult> {
    try {
      const result = await look.run(isScan);
      this.#postponed.delete(host);
      return result;
    } catch (error) {
      if (error instanceof LimitReached) this.#postponed.add(host);
      throw error;
    }
  }

  /** Stores what a look found besides the word. */
  async #storeFindings(
    { host, listing, robots }: CensusOrigin,
    result: CensusLookResult,
    { day, isScan }: { readonly day: number; readonly isScan: boolean },
  ): Promise<void> {
    const { store } = this.#options;
    const { scan, allowed, restMs, isSilent } = result;
    const restUntilMs = restMs === null ? null : store.now() + Math.min(restMs, MAX_REST_MS);
    // If robots.txt refuses a scan, the next scan is tried in a week.
    const isRefused = isScan && allowed !== null && restMs === null;
    const isScanned = scan === null ? isRefused : !(scan.rateLimited || isSilent);
    const stored = toListing(listing);
    const resources = stored.resources.length > 0 ? stored.resources : findResources(scan);
    await store.census.change(host, {
      restUntilMs,
      ...(allowed && { robots: { ...robots, ...allowed } }),
      ...(isScanned && { scannedDay: day }),
      ...(resources !== stored.resources && { listing: { ...listing, resources } }),
    });
  }

  /** Waits for later looks, which show whether the origin or our network was down. */
  async #postponeWord(host: string, scan: FinishedScan | null, day: number): Promise<void> {
    const { store } = this.#options;
    const lookAtMs = findWordDeadlineMs(store.now(), day);
    // `silence` holds the id of the silent scan; it is empty after a look without a scan.
    await store.census.change(host, { silence: scan?.scanId ?? '', lookAtMs, begunDay: day });
  }

  /** Stores the postponed word of a silent host. */
  async #decideSilence(host: string, word: 'down' | 'not_checked'): Promise<void> {
    const { store, scanCoordinator, onError } = this.#options;
    const row = await store.census.get(host);
    if (row === null || row.silence === null || row.begunDay === null) return;
    const wasScanned = word === 'down' && row.silence !== '';
    if (wasScanned && (await store.census.findWord(host, row.begunDay)) === null) {
      // The result of the scan may be purged by now.
      await scanCoordinator.publish(row.silence, 'census').catch((error: unknown) => {
        onError(`census: the scan of ${host} was not published`, error);
      });
    }
    await this.#storeWord(host, row.begunDay, word);
    const scanned = wasScanned ? { scannedDay: row.begunDay } : {};
    await store.census.change(host, { silence: null, ...scanned });
    await this.#planLook(row.host, row.begunDay + 1);
  }

  /** Stores the word of a scan that was published today. Returns false if no scan was. */
  async #useScanOfToday({ host }: CensusOrigin): Promise<boolean> {
    const { store } = this.#options;
    const today = utcDay(store.now());
    const result = await store.results.findPublished(host);
    if (result === null || utcDay(result.scannedAtMs) !== today) return false;
    const { dayWord } = fromStoredReport(result);
    if (dayWord === null) return false;
    await store.census.change(host, { scannedDay: today });
    await this.#storeWord(host, today, dayWord);
    return true;
  }

  async #publish(scan: FinishedScan | null): Promise<void> {
    // A scan that got only 429 says nothing about the origin.
    if (scan !== null && !scan.rateLimited)
      await this.#options.scanCoordinator.publish(scan.scanId, 'census');
  }

  async #storeWord(host: string, day: number, word: DayWord): Promise<void> {
    const { store, onWord } = this.#options;
    if (await store.census.insertWord(host, day, word)) onWord?.(word);
    await store.census.fold(host);
  }

  async #mayAsk({ host, isChosen, lastDay }: CensusOrigin): Promise<boolean> {
    const { store } = this.#options;
    if (!isChosen || lastDay < utcDay(store.now()) - LISTED_FOR_DAYS) return false;
    return (await store.listing.get(host)).settings.listed;
  }

  /** Plans tomorrow's look. Removes an origin that is no longer asked and has no word on any shown day. */
  async #skipDay(row: CensusOrigin): Promise<void> {
    const { census } = this.#options.store;
    await census.fold(row.host);
    const folded = await census.get(row.host);
    const isEmpty = folded?.letters === DAY_LETTERS.not_checked.repeat(SHOWN_DAYS);
    const firstDay = utcDay(this.#options.store.now()) - LISTED_FOR_DAYS;
    if (isEmpty && (row.lastDay < firstDay || !row.isChosen)) await census.remove(row.host);
    else await this.#planLook(row.host);
  }

  /** The default day is tomorrow. */
  async #planLook(host: string, day = utcDay(this.#options.store.now()) + 1): Promise<void> {
    await this.#options.store.census.change(host, { lookAtMs: lookTimeMs(host, day) });
  }
}
