import { DAY_LETTERS, type DayWord, SHOWN_DAYS } from '../../scanner/model/payability.ts';
import { type FinishedScan, fromStoredReport } from '../scans/finished-scan.ts';
import type { CensusOrigin } from '../store/census.ts';
import { utcDay } from '../store/statistics.ts';
import type { CensusLookOptions, CensusLookResult } from './census-look.ts';
import { addFindings } from './merge-listing.ts';
import {
  createKeyedHash,
  DAY_MS,
  findWordDeadlineMs,
  type KeyedHash,
  LISTED_FOR_DAYS,
  lookTimeMs,
} from './plan.ts';
import { toListing } from './resources.ts';

type CensusWordsOptions = Pick<
  CensusLookOptions,
  'store' | 'wishes' | 'scanCoordinator' | 'post' | 'onError'
> & {
  readonly onWord?: ((word: DayWord) => void) | undefined;
  /** Called when the word of a silent host is decided. */
  readonly onDecided: (host: string) => void;
};

const MAX_REST_MS = 30 * DAY_MS;

/** Stores what looks found: words, findings, published scans, and the times of the next looks. */
export class CensusWords {
  readonly #options: CensusWordsOptions;
  #keyedHash: Promise<KeyedHash> | null = null;

  constructor(options: CensusWordsOptions) {
    this.#options = options;
  }

  /** Reads the secret of the store once. */
  readKeyedHash(): Promise<KeyedHash> {
    this.#keyedHash ??= this.#options.store.census.readSecret().then(createKeyedHash);
    // After an error, the next call reads again.
    this.#keyedHash.catch(() => {
      this.#keyedHash = null;
    });
    return this.#keyedHash;
  }

  /** Stores what a look found besides the word. */
  async storeFindings(
    { host }: CensusOrigin,
    result: CensusLookResult,
    { day, isScan }: { readonly day: number; readonly isScan: boolean },
  ): Promise<void> {
    const { store, post } = this.#options;
    const { scan, allowed, restMs, isSilent } = result;
    const restUntilMs = restMs === null ? null : store.now() + Math.min(restMs, MAX_REST_MS);
    // If robots.txt refuses a scan, the next scan is tried in a week.
    const isRefused = isScan && allowed !== null && restMs === null;
    const countsAsScan = scan === null ? isRefused : !(hasOnly429Answers(scan) || isSilent);
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
      ...(countsAsScan && { scannedDay: day }),
      listing,
    });
  }

  /** Leaves the word open until later looks show whether the origin or our network was down. */
  async postponeWord(host: string, scan: FinishedScan | null, day: number): Promise<void> {
    const { store } = this.#options;
    const lookAtMs = findWordDeadlineMs(store.now(), day);
    // `silence` holds the id of the silent scan; it is empty after a look without a scan.
    await store.census.change(host, { silence: scan?.scanId ?? '', lookAtMs, begunDay: day });
  }

  /** Stores the postponed word of a silent host. */
  async decideSilence(host: string, word: 'down' | 'not_checked'): Promise<void> {
    const { store, scanCoordinator, wishes, onError } = this.#options;
    this.#options.onDecided(host);
    const row = await store.census.get(host);
    if (row === null || row.silence === null || row.begunDay === null) return;
    const hasWord = (await store.census.findWord(host, row.begunDay)) !== null;
    const mayPublish =
      word === 'down' && row.silence !== '' && !hasWord && (await wishes.mayAsk(host));
    if (mayPublish) {
      // The result of the scan may be purged by now.
      await scanCoordinator.publish(row.silence, 'census').catch((error: unknown) => {
        onError(`census: the scan of ${host} was not published`, error);
      });
    }
    await this.storeWord(host, row.begunDay, word);
    const scanned = mayPublish ? { scannedDay: row.begunDay } : {};
    await store.census.change(host, { silence: null, ...scanned });
    await this.planLook(row.host, row.begunDay + 1);
  }

  /** Stores the word of a scan that was published today. Returns false if no scan was. */
  async useScanOfToday(row: CensusOrigin): Promise<boolean> {
    const { store, post } = this.#options;
    const { host } = row;
    const today = utcDay(store.now());
    const result = await store.results.findPublished(host);
    if (result === null || utcDay(result.scannedAtMs) !== today) return false;
    const scan = fromStoredReport(result);
    const listing = addFindings(toListing(row.listing), { signs: [], scan }, { day: today, post });
    await store.census.change(host, { scannedDay: today, listing });
    await this.storeWord(host, today, scan.dayWord);
    return true;
  }

  /** Publishes a scan. A rate-limited scan says nothing about the origin, and is not published. */
  async publish(scan: FinishedScan | null): Promise<void> {
    const { scanCoordinator, wishes } = this.#options;
    if (scan === null || scan.rateLimited) return;
    if (await wishes.mayAsk(scan.host)) await scanCoordinator.publish(scan.scanId, 'census');
  }

  /** Stores the word of a day, unless the host may no longer be asked or has a word of that day. */
  async storeWord(host: string, day: number, word: DayWord): Promise<void> {
    const { store, wishes, onWord } = this.#options;
    if (!(await wishes.mayAsk(host))) return;
    if (await store.census.insertWord(host, day, word)) onWord?.(word);
    await store.census.fold(host);
  }

  /** Plans tomorrow's look, or removes an origin that is no longer asked and has no word on any shown day. */
  async skipDayOrRemove(row: CensusOrigin): Promise<void> {
    const { census, directory, listing } = this.#options.store;
    await census.fold(row.host);
    const folded = await census.get(row.host);
    const hasNoWord = folded?.letters === DAY_LETTERS.not_checked.repeat(SHOWN_DAYS);
    const oldestDay = utcDay(this.#options.store.now()) - LISTED_FOR_DAYS;
    const isGone = hasNoWord && (row.lastDay < oldestDay || !row.isChosen);
    // The row of a host with a record stays, because readers find in it that the host is excluded.
    const isWithheld =
      folded?.excludedAtMs !== null || !(await listing.get(row.host)).settings.listed;
    if (isGone && !isWithheld && (await directory.get(row.host)) === null)
      return census.remove(row.host);
    await census.change(row.host, { silence: null });
    await this.planLookTomorrow(row.host);
  }

  planLookTomorrow(host: string): Promise<void> {
    return this.planLook(host, utcDay(this.#options.store.now()) + 1);
  }

  /** Plans the next look for the host's second of `day`. */
  async planLook(host: string, day: number): Promise<void> {
    const lookAtMs = lookTimeMs(await this.readKeyedHash(), host, day);
    await this.#options.store.census.change(host, { lookAtMs });
  }
}

/** Such a scan is repeated on the next day. If P2 could not read the challenge, another scan would find the same. */
function hasOnly429Answers({ rateLimited, report }: FinishedScan): boolean {
  return (
    rateLimited && !report.results.some(({ id, outcome }) => id === 'P2' && outcome === 'unread')
  );
}
