import { setTimeout as pause } from 'node:timers/promises';
import { type Origin, type OriginPolicy, parseOrigin } from '../guard/origin.ts';
import type { AdmitAddresses, OriginTurn, OriginTurns } from '../limits/origin-turns.ts';
import type { AskResources } from '../looks/ask-resources.ts';
import { type LookResult, readAnswers, readScan } from '../looks/facts.ts';
import {
  type FreeScanOptions,
  inTurn,
  lookInTurn,
  scanForFree,
  type TurnResult,
} from '../looks/in-turn.ts';
import { type FetchToken, isSameHash } from '../ownership/ownership-token.ts';
import { fetchFinding, readFindings, type TokenFinding } from '../ownership/token-reader.ts';
import { type FinishedScan, fromStoredReport } from '../scan/finished-scan.ts';
import type { Store } from '../store/store.ts';
import { addEvents, type Changed, changeSame, publishStep } from './change-watch.ts';
import { type Baseline, compare } from './compare.ts';
import { findSlotMs, isFileDue, isScanDue, planLookMs, toDay } from './plan.ts';
import type { WatchState, WatchTiming } from './state.ts';

export type LookOptions = Omit<FreeScanOptions, 'admit'> & {
  readonly store: Store;
  readonly siteUrl: string;
  readonly policy: OriginPolicy;
  readonly timing: WatchTiming;
  readonly askResources: AskResources;
  readonly fetchToken: FetchToken;
  readonly turns: Pick<OriginTurns, 'enter'>;
  /** Resolves after `ms`; tests replace the timer. */
  readonly wait?: ((ms: number) => Promise<unknown>) | undefined;
  readonly onError: (message: string, error: unknown) => void;
};

/** The kind of a finished look; `none` when nothing was asked, or the answers prove nothing. */
export type LookKind = 'scan' | 'challenge' | 'published' | 'none';

type Sight = { readonly result: LookResult | null; readonly scan: FinishedScan | null };

const NOTHING: Sight = { result: null, scan: null };
/** After this wait for a turn, the looks behind it are read. */
const LOOK_WITHIN_MS = 5_000;
/** The file is read once a day, so its reading waits longer. */
const FILE_WITHIN_MS = 30_000;
/** Another reading of the file ends within 10 s, and its slot is free after 10 s. */
const FILE_TRIES = 15;
const FILE_POLL_MS = 1_000;

/** Looks at one origin for its watch; the caller holds the lease of the watch. */
export class Look {
  readonly #options: LookOptions;
  #watch: WatchState;

  constructor(options: LookOptions, watch: WatchState) {
    this.#options = options;
    this.#watch = watch;
  }

  /** Compares what a payer made public since the last look. */
  async comparePublished(): Promise<boolean> {
    const { store, timing } = this.#options;
    const { host, scanId, scannedAtMs, baseline } = this.#watch;
    const record = await store.directory.get(host);
    if (record === null || record.scanId === scanId || record.scannedAtMs <= scannedAtMs) {
      return false;
    }
    // An older scan is not a baseline, because the origin may have changed long since.
    const isOld = toDay(record.scannedAtMs, timing) < toDay(store.now(), timing);
    if (baseline === null && isOld) return false;
    const result = await store.results.published(host);
    if (result === null || result.scanId !== record.scanId) return false;
    const scan = fromStoredReport(result);
    await this.#store({ result: readScan(scan), scan }, this.#watch.nextLookAtMs);
    return true;
  }

  /** Asks the origin, and stores the new facts together with their events. */
  async run(): Promise<LookKind> {
    const { store, timing } = this.#options;
    const { host, suspicions } = this.#watch;
    const nowMs = store.now();
    const isSuspected = Object.values(suspicions).some(({ by }) => by === 'scan');
    if (isSuspected || isScanDue(this.#watch, nowMs, timing)) {
      await this.#store(await this.#look((turn) => this.#scan(turn)), null);
      return 'scan';
    }
    const isHourly =
      findSlotMs(host, (this.#watch.nextLookAtMs ?? 0) - 1, timing) === this.#watch.nextLookAtMs;
    const resources = (await this.#baseline())?.value.resources ?? [];
    const isAsking = resources.length > 0 && (isHourly || Object.keys(suspicions).length > 0);
    const ask = (turn: OriginTurn) => this.#ask(resources, turn);
    await this.#store(isAsking ? await this.#look(ask) : NOTHING, null);
    return isAsking ? 'challenge' : 'none';
  }

  /** Renews the watch when the file that proved control is still served. The file is read once a UTC day. */
  async renew(): Promise<void> {
    const { store, timing, turns, onError } = this.#options;
    if (!isFileDue(this.#watch, store.now(), timing)) return;
    let finding: TokenFinding | null;
    try {
      const request = this.#turnRequest(FILE_WITHIN_MS);
      finding = await inTurn(turns, request, (turn) => this.#readFile(turn));
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

  /** Uses the finding of whoever else reads the file now, because readings of a host begin 10 s apart. */
  async #readFile(turn: OriginTurn): Promise<TurnResult<TokenFinding | null>> {
    const { store, wait = pause } = this.#options;
    const origin = this.#origin();
    for (let tries = 0; tries < FILE_TRIES; tries += 1) {
      const slot = await store.ownership.beginReading(origin.host);
      if (slot.taken) {
        const fetched = await fetchFinding(this.#options, origin, turn, slot.atMs);
        return { result: fetched.reading.finding, handshakeMs: fetched.handshakeMs };
      }
      const last = (await readFindings(store, origin)).at(-1);
      if (last !== undefined) return { result: last.finding, handshakeMs: 0 };
      await wait(FILE_POLL_MS);
    }
    return { result: null, handshakeMs: 0 };
  }

  #turnRequest(withinMs: number) {
    const { domain, block, suspicions } = this.#watch;
    const isUrgent = Object.keys(suspicions).length > 0;
    const blocks = new Set([block]);
    const origin = this.#origin();
    return { kind: 'look', origin, blocks, domain, isUrgent, withinMs } as const;
  }

  /** Runs a look once it is this watch's turn. A fault of ours does not count as a look. */
  #look(work: (turn: OriginTurn) => Promise<TurnResult<Sight>>): Promise<Sight> {
    const { turns, onError } = this.#options;
    return lookInTurn(turns, this.#turnRequest(LOOK_WITHIN_MS), work, {
      refused: () => this.#unreachable(),
      fault: NOTHING,
      onFault: (error) => onError('a look failed', error),
    });
  }

  async #scan(turn: OriginTurn): Promise<TurnResult<Sight>> {
    const admit: AdmitAddresses = (addresses) => turn.toward(addresses);
    const scan = await scanForFree(this.#origin(), { ...this.#options, admit });
    return { result: { result: readScan(scan), scan }, handshakeMs: 0 };
  }

  async #ask(resources: Baseline['resources'], turn: OriginTurn): Promise<TurnResult<Sight>> {
    const { askResources, store } = this.#options;
    const admit: AdmitAddresses = (addresses) => turn.toward(addresses);
    const { answers, handshakeMs } = await askResources(this.#origin(), resources, admit);
    return { result: { result: readAnswers(answers, store.now()), scan: null }, handshakeMs };
  }

  /** The facts of an origin whose name now resolves to an address that the guard refuses. */
  #unreachable(): Sight {
    const gone = { value: { reachable: false }, mark: 'false', rank: 1, by: 'scan' } as const;
    const facts = { reachable: gone };
    const atMs = this.#options.store.now();
    const result = { by: 'scan', atMs, facts, resources: null, checksVersion: null } as const;
    return { result, scan: null };
  }

  async #baseline(): Promise<{ readonly text: string; readonly value: Baseline } | null> {
    const { baseline } = this.#watch;
    const text = baseline === null ? null : await this.#options.store.watches.text(baseline);
    // `#store` is the only writer of these texts.
    return text === null ? null : { text, value: JSON.parse(text) as Baseline };
  }

  /** @param keptMs time of a planned look that must not be postponed; null when there is none */
  async #store(sight: Sight, keptMs: number | null): Promise<void> {
    const { store, timing, siteUrl } = this.#options;
    const { result } = sight;
    publishStep('look-seen');
    const before = await this.#baseline();
    const { baseline: known } = this.#watch;
    await this.#change((current) => {
      // The lease lets one look run at a time, so a changed baseline means that the lease was lost.
      if (current.baseline !== known) return null;
      const nowMs = store.now();
      const compared =
        result && compare(before?.value ?? null, current.suspicions, result, timing.confirmAfterMs);
      const suspicions = compared?.suspicions ?? current.suspicions;
      const plannedMs = planLookMs(current.host, suspicions, nowMs, timing);
      const nextLookAtMs = keptMs === null ? plannedMs : Math.min(keptMs, plannedMs);
      const last = scanned(current, sight, timing);
      const looked = { ...current, ...last, suspicions, nextLookAtMs };
      if (compared === null) return { state: looked };
      const text = JSON.stringify(compared.baseline);
      const isSame = text === before?.text;
      const baseline = isSame ? known : `seen_${crypto.randomUUID()}`;
      const queued = addEvents({ ...looked, baseline }, compared.events, { nowMs, siteUrl });
      const texts = isSame || baseline === null ? [] : [{ id: baseline, text }];
      return { state: queued.state, texts: [...queued.texts, ...texts] };
    });
    publishStep('look-stored');
  }

  async #change(next: (state: WatchState) => Changed | null): Promise<void> {
    const changed = await changeSame(this.#options, this.#watch, next);
    if (changed !== null) this.#watch = changed;
  }

  #origin(): Origin {
    return parseOrigin(this.#watch.originUrl, this.#options.policy);
  }
}

/** Returns the members that record the last scan; a scan that showed nothing changes none. */
function scanned(
  state: WatchState,
  { result, scan }: Sight,
  timing: WatchTiming,
): Partial<WatchState> {
  if (result?.by !== 'scan') return {};
  const scannedDay = Math.max(state.scannedDay ?? 0, toDay(result.atMs, timing));
  return { scannedDay, scannedAtMs: result.atMs, scanId: scan?.scanId ?? state.scanId };
}
