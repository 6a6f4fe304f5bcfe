import { setTimeout as pause } from 'node:timers/promises';
import { type Origin, type OriginPolicy, parseOrigin } from '../../scanner/guard/origin.ts';
import {
  fetchFinding,
  isSameHash,
  readFindings,
  type TokenFinding,
} from '../ownership/token-reader.ts';
import { type FinishedScan, fromStoredReport } from '../scans/finished-scan.ts';
import type { ScanCoordinator } from '../scans/scan-coordinator.ts';
import type { Store } from '../store/store.ts';
import type { AskResources } from '../turns/ask-resources.ts';
import { runLook, scanForFree } from '../turns/in-turn.ts';
import type { OriginTurns, TurnClient } from '../turns/origin-turns.ts';
import { changeLive, publishStep, queueEvents, type WatchUpdate } from './change-watch.ts';
import { type Baseline, compare } from './compare.ts';
import { type LookResult, readAnswers, readScan, toRefusedLook } from './facts.ts';
import {
  findHourlyMs,
  isFileDue,
  isScanDue,
  planLookMs,
  toDay,
  type WatchState,
  type WatchTiming,
} from './state.ts';

export type WatchLookOptions = {
  readonly store: Store;
  readonly scanCoordinator: Pick<ScanCoordinator, 'run'>;
  readonly siteUrl: string;
  readonly policy: OriginPolicy;
  readonly timing: WatchTiming;
  readonly askResources: AskResources;
  readonly turns: Pick<OriginTurns, 'ask'>;
  /** Resolves after `ms`; tests replace the timer. */
  readonly wait?: ((ms: number) => Promise<unknown>) | undefined;
  readonly onError: (message: string, error: unknown) => void;
};

/** The kind of a finished look. `none`: it sent no request. */
export type LookKind = 'scan' | 'challenge' | 'published' | 'none';

type LookOutcome = { readonly result: LookResult | null; readonly scan: FinishedScan | null };

const NO_OUTCOME: LookOutcome = { result: null, scan: null };
/** After this wait the look is postponed, so that other looks get a turn. */
const MAX_LOOK_WAIT_MS = 5_000;
/** The verification file is read only once a day, so its turn may take longer. */
const MAX_FILE_WAIT_MS = 30_000;
/** These tries last longer than the 10 s for which another reading of the file keeps its lease. */
const MAX_FILE_TRIES = 15;
const FILE_POLL_MS = 1_000;

/** Looks at one origin for its watch. The caller holds the lease of the watch. */
export class WatchLook {
  readonly #options: WatchLookOptions;
  #watch: WatchState;

  constructor(options: WatchLookOptions, watch: WatchState) {
    this.#options = options;
    this.#watch = watch;
  }

  /** Compares a scan that was published since the last look. Returns false if there is no such scan. */
  async comparePublished(): Promise<boolean> {
    const { store, timing } = this.#options;
    const { host, scanId, scannedAtMs, baseline } = this.#watch;
    const record = await store.directory.get(host);
    if (record === null || record.scanId === scanId || record.scannedAtMs <= scannedAtMs)
      return false;
    // A scan of an earlier day cannot be the first baseline, because the origin may have changed.
    const isOld = toDay(record.scannedAtMs, timing) < toDay(store.now(), timing);
    if (baseline === null && isOld) return false;
    const result = await store.results.findPublished(host);
    if (result === null || result.scanId !== record.scanId) return false;
    const scan = fromStoredReport(result);
    await this.#store({ result: readScan(scan), scan }, this.#watch.nextLookAtMs);
    return true;
  }

  /** Scans or asks the origin, and stores the new facts together with their events. */
  async run(): Promise<LookKind> {
    const { store, timing } = this.#options;
    const { host, suspicions, nextLookAtMs } = this.#watch;
    const nowMs = store.now();
    const hasScanSuspicion = Object.values(suspicions).some(({ by }) => by === 'scan');
    if (hasScanSuspicion || isScanDue(this.#watch, nowMs, timing)) {
      await this.#store(await this.#lookInTurn((client) => this.#scan(client)), null);
      return 'scan';
    }
    // A look at another time only confirms suspicions.
    const isHourly =
      nextLookAtMs !== null && findHourlyMs(host, nextLookAtMs - 1, timing) === nextLookAtMs;
    const resources = (await this.#readBaseline())?.value.resources ?? [];
    const needsRequests = resources.length > 0 && (isHourly || Object.keys(suspicions).length > 0);
    const ask = (client: TurnClient) => this.#ask(resources, client);
    await this.#store(needsRequests ? await this.#lookInTurn(ask) : NO_OUTCOME, null);
    return needsRequests ? 'challenge' : 'none';
  }

  /** Renews the watch if the origin still serves the verification file. The file is read once a UTC day. */
  async renew(): Promise<void> {
    const { store, timing, turns, onError } = this.#options;
    if (!isFileDue(this.#watch, store.now(), timing)) return;
    let finding: TokenFinding | null;
    try {
      const request = this.#turnRequest(MAX_FILE_WAIT_MS);
      finding = await turns.ask(request, (client) => this.#readFile(client));
    } catch (error) {
      // The fault is ours, so the file is read again at the next look.
      onError('the file of a watched host was not read', error);
      return;
    }
    if (finding === null) return;
    const { tokenHash } = this.#watch;
    const isServed = finding.kind === 'served' && isSameHash(finding.textHash, tokenHash);
    await this.#change((current) => {
      const nowMs = store.now();
      const state = { ...current, readDay: toDay(nowMs, timing) };
      const endsAtMs = nowMs + timing.lifetimeMs;
      return { state: isServed ? { ...state, endsAtMs, isEndTold: false } : state };
    });
  }

  /** Uses the last finding while another reading has its lease of 10 s. Null if that reading stored none in time. */
  async #readFile(client: TurnClient): Promise<TokenFinding | null> {
    const { store, wait = pause } = this.#options;
    const origin = this.#origin;
    for (let tries = 0; tries < MAX_FILE_TRIES; tries += 1) {
      const outcome = await store.ownership.beginReading(origin.host);
      if (outcome.taken)
        return (await fetchFinding(store, origin, client, outcome.lease.takenAtMs)).finding;
      const last = (await readFindings(store, origin)).at(-1);
      if (last !== undefined) return last.finding;
      await wait(FILE_POLL_MS);
    }
    return null;
  }

  #turnRequest(withinMs: number) {
    const { domain, block, suspicions } = this.#watch;
    const isUrgent = Object.keys(suspicions).length > 0;
    const blocks = new Set([block]);
    const origin = this.#origin;
    return { kind: 'look', origin, blocks, domain, isUrgent, withinMs } as const;
  }

  /** Waits for a turn, then runs a look. A fault of ours does not count as a look. */
  #lookInTurn(work: (client: TurnClient) => Promise<LookOutcome>): Promise<LookOutcome> {
    const { store, turns, onError } = this.#options;
    return runLook(turns, this.#turnRequest(MAX_LOOK_WAIT_MS), work, {
      whenOriginRefused: () => ({ result: toRefusedLook(store.now()), scan: null }),
      whenFault: NO_OUTCOME,
      onFault: (error) => onError('a look failed', error),
    });
  }

  async #scan(client: TurnClient): Promise<LookOutcome> {
    const scan = await scanForFree(this.#origin, client, this.#options.scanCoordinator);
    return { result: readScan(scan), scan };
  }

  async #ask(resources: Baseline['resources'], client: TurnClient): Promise<LookOutcome> {
    const { askResources, store } = this.#options;
    const answers = await askResources(this.#origin, resources, client);
    return { result: readAnswers(answers, store.now()), scan: null };
  }

  async #readBaseline(): Promise<{ readonly text: string; readonly value: Baseline } | null> {
    const { baseline } = this.#watch;
    const text = baseline === null ? null : await this.#options.store.watches.findText(baseline);
    // `#store` is the only writer of this text.
    return text === null ? null : { text, value: JSON.parse(text) as Baseline };
  }

  /**
   * Compares the outcome with the baseline. Stores the new baseline, its events and the time of the next look together.
   * @param notAfterMs time of a planned look that must not be postponed; null if there is none
   */
  async #store(outcome: LookOutcome, notAfterMs: number | null): Promise<void> {
    const { store, timing, siteUrl } = this.#options;
    const { result } = outcome;
    publishStep('look-seen');
    const before = await this.#readBaseline();
    const { baseline: baselineId } = this.#watch;
    await this.#change((current) => {
      // Only one look has the lease. If another look changed the baseline, this look has lost the lease.
      if (current.baseline !== baselineId) return null;
      const nowMs = store.now();
      const comparison =
        result && compare(before?.value ?? null, current.suspicions, result, timing.confirmAfterMs);
      const suspicions = comparison?.suspicions ?? current.suspicions;
      const plannedMs = planLookMs(current.host, suspicions, nowMs, timing);
      const nextLookAtMs = notAfterMs === null ? plannedMs : Math.min(notAfterMs, plannedMs);
      const scanMembers = toScanMembers(current, outcome, timing);
      const state = { ...current, ...scanMembers, suspicions, nextLookAtMs };
      if (comparison === null) return { state };
      const text = JSON.stringify(comparison.baseline);
      const isSame = text === before?.text;
      const baseline = isSame ? baselineId : `seen_${crypto.randomUUID()}`;
      const queued = queueEvents({ ...state, baseline }, comparison.events, { nowMs, siteUrl });
      const texts = isSame || baseline === null ? [] : [{ id: baseline, text }];
      return { state: queued.state, texts: [...queued.texts, ...texts] };
    });
    publishStep('look-stored');
  }

  async #change(update: (state: WatchState) => WatchUpdate | null): Promise<void> {
    const changed = await changeLive(this.#options, this.#watch, update);
    if (changed !== null) this.#watch = changed;
  }

  get #origin(): Origin {
    return parseOrigin(this.#watch.originUrl, this.#options.policy);
  }
}

/** Returns the members that describe the last scan; none if the look was not a scan, or showed nothing. */
function toScanMembers(
  state: WatchState,
  { result, scan }: LookOutcome,
  timing: WatchTiming,
): Partial<WatchState> {
  if (result?.by !== 'scan') return {};
  const scannedDay = Math.max(state.scannedDay ?? 0, toDay(result.atMs, timing));
  return { scannedDay, scannedAtMs: result.atMs, scanId: scan?.scanId ?? state.scanId };
}
