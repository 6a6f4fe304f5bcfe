import type { DayWord } from '../../scanner/model/payability.ts';
import type { CensusOrigin, DueOrigin } from '../store/census.ts';
import { utcDay } from '../store/statistics.ts';
import type { DueOptions } from '../store/watches.ts';
import { HostLeft, withLease } from '../turns/in-turn.ts';
import { LimitReached } from '../turns/origin-turns.ts';
import { Rounds } from '../turns/rounds.ts';
import {
  CensusLook,
  type CensusLookOptions,
  type CensusLookResult,
  type LookDay,
} from './census-look.ts';
import type { Wishes } from './choose-origins.ts';
import { type EndedLook, LookRest, OutageWindow } from './outage.ts';
import { canScanEndToday, isScanDue, isWeekPassed, lookTimeMs, SECOND_MS } from './plan.ts';
import { LOOK_LEASES, LookQueue } from './queue.ts';
import { CensusWords } from './words.ts';

type CensusOptions = Omit<CensusLookOptions, 'wishes'> & {
  readonly wishes: Wishes;
  /** Requests URLs that are known to answer. False if none does, so that our own network may have failed. */
  readonly isNetworkUp: () => Promise<boolean>;
  readonly onWord?: ((word: DayWord) => void) | undefined;
};

/** Looks that run or wait at the same time. A crash interrupts no more than these. */
export const MAX_LOOKS = 8;
/** Many looks are due after a long stop of the service. */
export const MAX_LOOKS_PER_SECOND = 4;
const LOOK_LEASE_MS = 300_000;

/** Stores one word a day for each origin. Instances that share a store share the work. */
export class Census {
  /** Begins due looks, and stops them. */
  readonly rounds: Rounds;
  readonly #options: CensusOptions;
  readonly #words: CensusWords;
  readonly #outages = new OutageWindow();
  /** No look begins while this rest lasts: our own network had an outage. */
  readonly #rest = new LookRest();
  readonly #queue = new LookQueue();
  /** Hosts whose look began and met a limit. The look is tried again. */
  readonly #hostsToRetry = new Set<string>();
  /** Start times of the looks of the last second. */
  #recentStartsMs: readonly number[] = [];

  constructor(options: CensusOptions) {
    this.#options = options;
    const { store, onError } = options;
    const onDecided = (host: string) => this.#outages.remove(host);
    this.#words = new CensusWords({ ...options, onDecided });
    this.rounds = new Rounds({
      maxRunning: MAX_LOOKS,
      now: () => store.now(),
      findFirstDueMs: () => store.census.findFirstDueMs(),
      readDue: (due) => this.#chooseDueHosts(due),
      runTask: (host) => this.#withLease(host, (row) => this.#lookIfDue(row)),
      messages: {
        dueTasksUnread: 'the due hosts were not read',
        taskFailed: 'the look at a host failed',
      },
      onError: (message, error) => onError(`census: ${message}`, error),
    });
  }

  /** Uses a scan that was just published as the look of its day. */
  onPublished(host: string): void {
    this.rounds.begin(host, () =>
      this.#withLease(host, async (row) => {
        if (row.isChosen && (await this.#words.useScanOfToday(row)))
          await this.#words.planLookTomorrow(row.host);
      }),
    );
  }

  /** Looks without waiting for the host's second of the day. */
  lookNow(host: string): Promise<void> {
    return this.#withLease(host, (row) => this.#look(row));
  }

  /** Stores `down` for all silent hosts that still have no word. Call it after the last look of a run. */
  async decideSilentHosts(): Promise<void> {
    for (const host of this.#outages.takeSilent()) await this.#words.decideSilence(host, 'down');
  }

  /** Chooses the hosts whose looks begin now, and counts these starts. Chooses none during a rest. */
  async #chooseDueHosts({ limit, ...due }: DueOptions): Promise<readonly string[]> {
    const { store, scanCoordinator, wishes } = this.#options;
    const nowMs = store.now();
    await wishes.storeExclusions();
    await this.#rest.endIfOver(nowMs, this.#options.isNetworkUp);
    if (this.#rest.isResting(nowMs)) return [];
    const keyedHash = await this.#words.readKeyedHash();
    this.#recentStartsMs = this.#recentStartsMs.filter((atMs) => atMs > nowMs - SECOND_MS);
    const freeStarts = Math.max(0, MAX_LOOKS_PER_SECOND - this.#recentStartsMs.length);
    if (freeStarts === 0) return [];
    // The queue gets all due origins, because it passes over those that cannot be asked now.
    const origins: DueOrigin[] = [];
    for await (const batch of store.census.readDue(due)) origins.push(...batch);
    const leases = await store.leases.findLive({ group: LOOK_LEASES });
    const hosts = this.#queue.choose(origins, {
      leased: new Set(leases.map(({ data }) => data ?? '')),
      isPaidScanRunning: scanCoordinator.countPaidScans() > 0,
      isWeeklyScanDue: (origin) =>
        canScanEndToday(nowMs) && isWeekPassed(keyedHash, origin, utcDay(nowMs)),
      limit: Math.min(limit, freeStarts),
    });
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

  /** Stores the word of a look whose day has passed, and looks if today's look is due. */
  async #lookIfDue(row: CensusOrigin): Promise<void> {
    const nowMs = this.#options.store.now();
    if (row.lookAtMs > nowMs) return;
    // For a silent host, `lookAtMs` is the time at which its word is due.
    if (row.silence !== null) return this.#words.decideSilence(row.host, 'down');
    const today = utcDay(nowMs);
    const plannedDay = utcDay(row.lookAtMs);
    if (plannedDay >= today) return this.#look(row);
    // A look that had begun before the rest may have asked the origin, so it is not repeated.
    if (this.#rest.hasMovedLook(row.lookAtMs, nowMs) && row.begunDay !== plannedDay)
      return this.#askOrigin(row, { day: plannedDay, isMovedByRest: true });
    await this.#words.storeWord(row.host, plannedDay, 'not_checked');
    // Today's look waits for the host's second of the day.
    const lookAtMs = lookTimeMs(await this.#words.readKeyedHash(), row.host, today);
    if (lookAtMs > nowMs) return this.#words.planLook(row.host, today);
    await this.#look(row);
  }

  /** Stores today's word, from a scan that was published today, or else from a look. */
  async #look(row: CensusOrigin): Promise<void> {
    const { store, wishes } = this.#options;
    const { host, begunDay, restUntilMs: retryAfterEndMs } = row;
    const day = utcDay(store.now());
    // Later looks decide the word of a silence of today. An earlier silence gets its word now.
    if (row.silence !== null && begunDay === day) return;
    if (row.silence !== null) await this.#words.decideSilence(host, 'down');
    if (!(await wishes.mayAsk(host))) return this.#words.skipDayOrRemove(row);
    const word = await store.census.findWord(host, day);
    if (word !== null || (await this.#words.useScanOfToday(row)))
      return this.#words.planLookTomorrow(row.host);
    // A crash interrupted the look, which may have asked the origin already.
    const wasInterrupted = begunDay === day && !this.#hostsToRetry.has(host);
    if (!wasInterrupted && (retryAfterEndMs ?? 0) <= store.now())
      return this.#askOrigin(row, { day, isMovedByRest: false });
    await this.#words.storeWord(host, day, 'not_checked');
    await this.#words.planLookTomorrow(row.host);
  }

  /** Runs a look, and stores what it found. A silent origin gets its word later. */
  async #askOrigin(row: CensusOrigin, lookDay: LookDay): Promise<void> {
    const { host, domain } = row;
    // Midnight may pass before the look ends, so the day is not read from the clock again.
    const { day } = lookDay;
    const look = new CensusLook(this.#options, row, lookDay);
    const mayScan = !lookDay.isMovedByRest && canScanEndToday(this.#options.store.now());
    const isScan = mayScan && isScanDue(await this.#words.readKeyedHash(), row, day);
    const result = await this.#runLook(look, host, { isScan, day });
    if (result === null) return this.#words.skipDayOrRemove(row);
    await this.#words.storeFindings(row, result, { day, isScan });
    // Only `down` blames the origin for its silence. Any other word is stored at once.
    const isUndecided = result.isSilent && result.word === 'down';
    if (isUndecided) await this.#words.postponeWord(host, result.scan, day);
    else {
      await this.#words.publish(result.scan);
      await this.#words.storeWord(host, day, result.word);
      await this.#words.planLook(host, day + 1);
    }
    const { networkOrDomain: network } = look.leases;
    await this.#judgeNetwork({ host, domain, network, isSilent: result.isSilent });
  }

  /** Decides silent hosts once later looks show whether the origins or our own network was down. */
  async #judgeNetwork(look: EndedLook): Promise<void> {
    const { store, isNetworkUp } = this.#options;
    const leaving = this.#outages.add(look);
    for (const host of leaving) await this.#words.decideSilence(host, 'down');
    // The look began before the rest, and met the same outage.
    if (look.isSilent && this.#rest.isResting(store.now()))
      return this.#words.decideSilence(look.host, 'not_checked');
    if (!look.isSilent || !this.#outages.mayBeOutage()) return;
    const isUp = await isNetworkUp();
    if (!isUp) this.#rest.begin(store.now());
    for (const host of this.#outages.takeSilent())
      await this.#words.decideSilence(host, isUp ? 'down' : 'not_checked');
  }

  /** Returns null if the host left while the look ran. Throws LimitReached if a limit forbids the look now. */
  async #runLook(
    look: CensusLook,
    host: string,
    { isScan, day }: { readonly isScan: boolean; readonly day: number },
  ): Promise<CensusLookResult | null> {
    const { store } = this.#options;
    const beganMs = store.now();
    try {
      const result = await look.run(isScan);
      this.#hostsToRetry.delete(host);
      this.#queue.forgetRejection(host);
      return result;
    } catch (error) {
      if (error instanceof HostLeft) return null;
      if (error instanceof LimitReached) {
        this.#hostsToRetry.add(host);
        this.#queue.reject(host, store.now());
      }
      throw error;
    } finally {
      this.#queue.countTime(look.leases.targets, store.now() - beganMs, day);
    }
  }
}
