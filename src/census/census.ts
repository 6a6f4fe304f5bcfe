import { HostLeft, LimitReached, withLease } from '../looks/in-turn.ts';
import { Rounds } from '../looks/rounds.ts';
import { DAY_LETTERS, type DayWord, SHOWN_DAYS } from '../model/availability.ts';
import { type FinishedScan, fromStoredReport } from '../scan/finished-scan.ts';
import type { CensusOrigin, DueOrigin } from '../store/census.ts';
import { utcDay } from '../store/statistics.ts';
import type { DueOptions } from '../store/watches.ts';
import { addFindings, toListing } from './listing.ts';
import { CensusLook, type CensusLookOptions, type CensusLookResult, LOOK_LEASES } from './look.ts';
import { type EndedLook, LookRest, OutageWindow } from './outage.ts';
import {
  createKeyedHash,
  DAY_MS,
  findWordDeadlineMs,
  isScanDue,
  isWeekPassed,
  type KeyedHash,
  LISTED_FOR_DAYS,
  lookTimeMs,
} from './plan.ts';
import { LookQueue } from './queue.ts';
import type { Wishes } from './wishes.ts';

type LookDay = { readonly day: number; readonly isMadeUpFor: boolean };

export type CensusOptions = Omit<CensusLookOptions, 'wishes'> & {
  readonly wishes: Wishes;
  /** Asks what is known to answer. False if our own network may have failed. */
  readonly isNetworkUp: () => Promise<boolean>;
  /** Called when the word of a host's day is stored. */
  readonly onWord?: ((word: DayWord) => void) | undefined;
};

const SECOND_MS = 1_000;
/** Looks that run or wait at the same time. A crash interrupts no more than these. */
export const MAX_LOOKS = 8;
/** Many looks are due after a long stop of the service. */
export const MAX_LOOKS_PER_SECOND = 4;
const MAX_REST_MS = 30 * DAY_MS;
const LOOK_LEASE_MS = 300_000;

/** Stores one word a day for each origin. Instances that share a store share the work. */
export class Census {
  readonly #options: CensusOptions;
  readonly #rounds: Rounds;
  readonly #outages = new OutageWindow();
  readonly #rest = new LookRest();
  readonly #queue = new LookQueue();
  #keyedHash: Promise<KeyedHash> | null = null;
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
    for (const host of this.#outages.takeSilent()) await this.#decideSilence(host, 'down');
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
    const { store, scanCoordinator, wishes } = this.#options;
    const nowMs = store.now();
    await wishes.storeExclusions();
    await this.#rest.endIfOver(nowMs, this.#options.isNetworkUp);
    if (this.#rest.isResting(nowMs)) return [];
    const keyedHash = await this.#readKeyedHash();
    this.#recentStartsMs = this.#recentStartsMs.filter((atMs) => atMs > nowMs - SECOND_MS);
    const allowed = Math.max(0, MAX_LOOKS_PER_SECOND - this.#recentStartsMs.length);
    if (allowed === 0) return [];
    const origins: DueOrigin[] = [];
    for await (const batch of store.census.readDue(due)) origins.push(...batch);
    const leases = await store.slots.findLive({ group: LOOK_LEASES });
    const hosts = this.#queue.choose(origins, {
      leased: new Set(leases.map(({ data }) => data ?? '')),
      isPaidScanRunning: scanCoordinator.running() > 0,
      isScanDue: (origin) => isWeekPassed(keyedHash, origin, utcDay(nowMs)),
      limit: Math.min(limit, allowed),
    });
    this.#recentStartsMs = [...this.#recentStartsMs, ...hosts.map(() => nowMs)];
    return hosts;
  }

  #readKeyedHash(): Promise<KeyedHash> {
    this.#keyedHash ??= this.#options.store.census.readSecret().then(createKeyedHash);
    this.#keyedHash.catch(() => {
      this.#keyedHash = null;
    });
    return this.#keyedHash;
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
    const today = utcDay(nowMs);
    const plannedDay = utcDay(row.lookAtMs);
    if (row.lookAtMs > nowMs) return;
    if (row.silence !== null) return this.#decideSilence(row.host, 'down');
    if (plannedDay >= today) return this.#look(row);
    if (this.#rest.hasMoved(row.lookAtMs, nowMs, DAY_MS) && row.begunDay !== plannedDay)
      return this.#askOrigin(row, { day: plannedDay, isMadeUpFor: true });
    await this.#storeWord(row.host, plannedDay, 'not_checked');
    // The host's second of the day is still to come.
    const lookAtMs = lookTimeMs(await this.#readKeyedHash(), row.host, today);
    if (lookAtMs > nowMs) return this.#planLook(row.host, today);
    await this.#look(row);
  }

  /** Stores today's word, from a scan that was published today, or else from a look. */
  async #look(row: CensusOrigin): Promise<void> {
    const { store, wishes } = this.#options;
    const { host, begunDay, restUntilMs } = row;
    const day = utcDay(store.now());
    if (row.silence !== null && begunDay === day) return;
    if (row.silence !== null) await this.#decideSilence(host, 'down');
    if (!(await wishes.mayAsk(host))) return this.#skipDay(row);
    const word = await store.census.findWord(host, day);
    if (word !== null || (await this.#useScanOfToday(row))) return this.#planLook(row.host);
    // A crash interrupted the look, which may have asked the origin already.
    const wasInterrupted = begunDay === day && !this.#postponed.has(host);
    // `restUntilMs` is the end of the origin's Retry-After.
    if (!wasInterrupted && (restUntilMs ?? 0) <= store.now())
      return this.#askOrigin(row, { day, isMadeUpFor: false });
    await this.#storeWord(host, day, 'not_checked');
    await this.#planLook(row.host);
  }

  async #askOrigin(row: CensusOrigin, lookDay: LookDay): Promise<void> {
    const { host, domain } = row;
    // Midnight may pass before the look ends.
    const { day } = lookDay;
    const look = new CensusLook(this.#options, row, lookDay);
    const isScan = !lookDay.isMadeUpFor && isScanDue(await this.#readKeyedHash(), row, day);
    const result = await this.#runLook(look, row, { isScan, day });
    if (result === null) return this.#skipDay(row);
    await this.#storeFindings(row, result, { day, isScan });
    const isUndecided = result.isSilent && result.word === 'down';
    if (isUndecided) await this.#postponeWord(host, result.scan, day);
    else {
      await this.#publish(result.scan);
      await this.#storeWord(host, day, result.word);
      await this.#planLook(host, day + 1);
    }
    const { network } = look;
    await this.#judgeNetwork({ host, domain, network, isSilent: result.isSilent });
  }

  /** Decides silent hosts once later looks show whether the origins or our own network was down. */
  async #judgeNetwork(look: EndedLook): Promise<void> {
    const { store, isNetworkUp } = this.#options;
    const leaving = this.#outages.add(look);
    for (const host of leaving) await this.#decideSilence(host, 'down');
    // The look began before the rest, and met the same outage.
    if (look.isSilent && this.#rest.isResting(store.now()))
      return this.#decideSilence(look.host, 'not_checked');
    if (!look.isSilent || !this.#outages.mayBeOutage()) return;
    const isUp = await isNetworkUp();
    if (!isUp) this.#rest.begin(store.now());
    for (const host of this.#outages.takeSilent())
      await this.#decideSilence(host, isUp ? 'down' : 'not_checked');
  }

  /** Returns null if the host left while the look ran. */
  async #runLook(
    look: CensusLook,
    { host }: CensusOrigin,
    { isScan, day }: { readonly isScan: boolean; readonly day: number },
  ): Promise<CensusLookResult | null> {
    const { store } = this.#options;
    const beganMs = store.now();
    try {
      const result = await look.run(isScan);
      this.#postponed.delete(host);
      this.#queue.end(host);
      return result;
    } catch (error) {
      if (error instanceof HostLeft) return null;
      if (error instanceof LimitReached) {
        this.#postponed.add(host);
        this.#queue.reject(host, store.now());
      }
      throw error;
    } finally {
      this.#queue.use(look.targets, store.now() - beganMs, day);
    }
  }

  /** Stores what a look found besides the word. */
  async #storeFindings(
    { host }: CensusOrigin,
    result: CensusLookResult,
    { day, isScan }: { readonly day: number; readonly isScan: boolean },
  ): Promise<void> {
    const { store, post } = this.#options;
    const { scan, allowed, restMs, isSilent } = result;
    const restUntilMs = restMs === null ? null : store.now() + Math.min(restMs, MAX_REST_MS);
    // If robots.txt refuses a scan, the next scan is tried in a week.
    const isRefused = isScan && allowed !== null && restMs === null;
    const isScanned = scan === null ? isRefused : !(hasOnly429Answers(scan) || isSilent);
    // An import may have changed the listing meanwhile.
    const row = await store.census.get(host);
    if (row === null) return;
    const listing = addFindings(toListing(row.listing), result, { day, post });
    const listed = new Set([...listing.resources, ...listing.candidates].map(({ path }) => path));
    const robots = Object.entries({ ...row.robots, ...allowed });
    await store.census.change(host, {
      restUntilMs,
      robots: Object.fromEntries(robots.filter(([path]) => listed.has(path))),
      ...(allowed && { robotsDay: day }),
      ...(isScanned && { scannedDay: day }),
      listing: { ...listing },
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
    const { store, scanCoordinator, wishes, onError } = this.#options;
    this.#outages.remove(host);
    const row = await store.census.get(host);
    if (row === null || row.silence === null || row.begunDay === null) return;
    const hasWord = (await store.census.findWord(host, row.begunDay)) !== null;
    const isPublished =
      word === 'down' && row.silence !== '' && !hasWord && (await wishes.mayAsk(host));
    if (isPublished) {
      // The result of the scan may be purged by now.
      await scanCoordinator.publish(row.silence, 'census').catch((error: unknown) => {
        onError(`census: the scan of ${host} was not published`, error);
      });
    }
    await this.#storeWord(host, row.begunDay, word);
    const scanned = isPublished ? { scannedDay: row.begunDay } : {};
    await store.census.change(host, { silence: null, ...scanned });
    await this.#planLook(row.host, row.begunDay + 1);
  }

  /** Stores the word of a scan that was published today. Returns false if no scan was. */
  async #useScanOfToday(row: CensusOrigin): Promise<boolean> {
    const { store, post } = this.#options;
    const { host } = row;
    const today = utcDay(store.now());
    const result = await store.results.findPublished(host);
    if (result === null || utcDay(result.scannedAtMs) !== today) return false;
    const scan = fromStoredReport(result);
    const { dayWord } = scan;
    if (dayWord === null) return false;
    const listing = addFindings(toListing(row.listing), { signs: [], scan }, { day: today, post });
    await store.census.change(host, { scannedDay: today, listing: { ...listing } });
    await this.#storeWord(host, today, dayWord);
    return true;
  }

  /** A scan that could judge nobody says nothing about the origin, and is not published. */
  async #publish(scan: FinishedScan | null): Promise<void> {
    const { scanCoordinator, wishes } = this.#options;
    if (scan === null || scan.rateLimited) return;
    if (await wishes.mayAsk(scan.host)) await scanCoordinator.publish(scan.scanId, 'census');
  }

  async #storeWord(host: string, day: number, word: DayWord): Promise<void> {
    const { store, wishes, onWord } = this.#options;
    if (!(await wishes.mayAsk(host))) return;
    if (await store.census.insertWord(host, day, word)) onWord?.(word);
    await store.census.fold(host);
  }

  /** Plans tomorrow's look. Removes an origin that is no longer asked and has no word on any shown day. */
  async #skipDay(row: CensusOrigin): Promise<void> {
    const { census, directory, listing } = this.#options.store;
    await census.fold(row.host);
    const folded = await census.get(row.host);
    const isEmpty = folded?.letters === DAY_LETTERS.not_checked.repeat(SHOWN_DAYS);
    const firstDay = utcDay(this.#options.store.now()) - LISTED_FOR_DAYS;
    const isGone = isEmpty && (row.lastDay < firstDay || !row.isChosen);
    // The row of a host with a record stays, because readers find in it that the host is excluded.
    const isWithheld =
      folded?.excludedAtMs !== null || !(await listing.get(row.host)).settings.listed;
    if (isGone && !isWithheld && (await directory.get(row.host)) === null)
      return census.remove(row.host);
    await census.change(row.host, { silence: null });
    await this.#planLook(row.host);
  }

  /** The default day is tomorrow. */
  async #planLook(host: string, day = utcDay(this.#options.store.now()) + 1): Promise<void> {
    const lookAtMs = lookTimeMs(await this.#readKeyedHash(), host, day);
    await this.#options.store.census.change(host, { lookAtMs });
  }
}

/** A scan in which no challenge could be judged for another reason than 429 would find the same tomorrow. */
function hasOnly429Answers({ rateLimited, report }: FinishedScan): boolean {
  return (
    rateLimited && !report.results.some(({ id, outcome }) => id === 'P2' && outcome === 'unread')
  );
}
