import type { FetchChallenge } from '../directory/challenge-fetch.ts';
import { hashSecret, isSameHash } from '../directory/verification-token.ts';
import { OriginRefused } from '../guard/errors.ts';
import { type Origin, type OriginPolicy, parseOrigin } from '../guard/origin.ts';
import { Saturated } from '../model/errors.ts';
import { type FinishedScan, fromStoredReport } from '../scan/finished-scan.ts';
import type { ScanCoordinator } from '../scan/scan-coordinator.ts';
import type { Store } from '../store/contract/store.ts';
import type { AskResources } from './ask-resources.ts';
import { type Changed, changeWatch, ifSame } from './change-watch.ts';
import { type Baseline, compare } from './compare.ts';
import { addEvents } from './events.ts';
import { readAnswers, readScan, type Seen } from './facts.ts';
import { findSlotMs, isFileDue, isScanDue, planLookMs, toDay } from './plan.ts';
import type { WatchState } from './state.ts';
import type { WatchTiming } from './timing.ts';
import { NoPlace } from './under-lease.ts';

export type LookOptions = {
  readonly store: Store;
  readonly siteUrl: string;
  readonly policy: OriginPolicy;
  readonly timing: WatchTiming;
  readonly scanCoordinator: Pick<ScanCoordinator, 'run'>;
  readonly askResources: AskResources;
  readonly fetchChallenge: FetchChallenge;
  /** A step of a look, by name; tests end the process there. */
  readonly onStep?: ((step: 'look-seen' | 'look-stored') => void) | undefined;
  readonly onError: (message: string, error: unknown) => void;
};

/** What a look was; `none`: nothing was asked, or nothing that counts was learnt. */
export type LookKind = 'scan' | 'challenge' | 'published' | 'none';

type Sight = { readonly seen: Seen | null; readonly scan: FinishedScan | null };

const NOTHING: Sight = { seen: null, scan: null };

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
    // An older scan is no start: what it showed may be long gone.
    const isOld = toDay(record.scannedAtMs, timing) < toDay(store.now(), timing);
    if (baseline === null && isOld) return false;
    const result = await store.results.published(host);
    if (result === null || result.scanId !== record.scanId) return false;
    const scan = fromStoredReport(result);
    await this.#store({ seen: readScan(scan), scan }, this.#watch.nextLookAtMs);
    return true;
  }

  /** Asks the origin, and stores what is to be told with what was seen. */
  async run(): Promise<LookKind> {
    const { store, timing } = this.#options;
    const { host, suspicions } = this.#watch;
    const nowMs = store.now();
    const isSuspected = Object.values(suspicions).some(({ by }) => by === 'scan');
    if (isSuspected || isScanDue(this.#watch, nowMs, timing)) {
      await this.#store(await this.#scan(), null);
      return 'scan';
    }
    const isHourly =
      findSlotMs(host, (this.#watch.nextLookAtMs ?? 0) - 1, timing) === this.#watch.nextLookAtMs;
    const { resources } = await this.#baseline();
    const isAsking = resources.length > 0 && (isHourly || Object.keys(suspicions).length > 0);
    await this.#store(isAsking ? await this.#ask(resources) : NOTHING, null);
    return isAsking ? 'challenge' : 'none';
  }

  /** Renews the watch where the file that proved control is still served. Read once a UTC day. */
  async renew(): Promise<void> {
    const { store, timing, fetchChallenge, onError } = this.#options;
    if (!isFileDue(this.#watch, store.now(), timing)) return;
    const origin = this.#origin();
    const slot = await store.ownership.beginChallengeFetch(origin.host);
    if (!slot.taken) return;
    let isServed: boolean;
    try {
      const found = await fetchChallenge(origin, async () => true);
      isServed =
        found.kind === 'served' && isSameHash(hashSecret(found.text), this.#watch.tokenHash);
    } catch (error) {
      // Our fault: read again at the next look.
      onError('the file of a watched host was not read', error);
      return;
    }
    await this.#change((held) => {
      const nowMs = store.now();
      const state = { ...held, readDay: toDay(nowMs, timing) };
      const endsAtMs = nowMs + timing.lifetimeMs;
      return { state: isServed ? { ...state, endsAtMs, isEndTold: false } : state };
    });
  }

  async #scan(): Promise<Sight> {
    const { scanCoordinator, onError } = this.#options;
    try {
      const scan = await scanCoordinator.run(this.#origin(), { isFree: true });
      return { seen: readScan(scan), scan };
    } catch (error) {
      // Paid scans have the places.
      if (error instanceof Saturated) throw new NoPlace();
      if (error instanceof OriginRefused) return { seen: this.#unreachable(), scan: null };
      // Our fault is no look.
      onError('a look failed', error);
      return NOTHING;
    }
  }

  async #ask(resources: Baseline['resources']): Promise<Sight> {
    const { askResources, onError, store } = this.#options;
    try {
      const asked = await askResources(this.#origin(), resources);
      return { seen: readAnswers(asked, store.now()), scan: null };
    } catch (error) {
      onError('a look failed', error);
      return NOTHING;
    }
  }

  /** The guard refuses the address that the name has now. */
  #unreachable(): Seen {
    const gone = { value: { reachable: false }, mark: 'false', rank: 1, by: 'scan' } as const;
    const atMs = this.#options.store.now();
    return { by: 'scan', atMs, facts: { reachable: gone }, resources: null, checksVersion: null };
  }

  async #baseline(): Promise<Baseline> {
    return (
      (await this.#storedBaseline())?.value ?? { facts: {}, resources: [], checksVersion: null }
    );
  }

  async #storedBaseline(): Promise<{ readonly text: string; readonly value: Baseline } | null> {
    const { baseline } = this.#watch;
    const text = baseline === null ? null : await this.#options.store.watches.text(baseline);
    // `#store` is the only writer of these texts.
    return text === null ? null : { text, value: JSON.parse(text) as Baseline };
  }

  /** @param keptMs when the next look is due all the same; null: as planned from now on */
  async #store({ seen, scan }: Sight, keptMs: number | null): Promise<void> {
    const { store, timing, siteUrl, onStep } = this.#options;
    onStep?.('look-seen');
    const before = await this.#storedBaseline();
    const { baseline: known } = this.#watch;
    await this.#change((held) => {
      // Nobody else looks while this one has the lease.
      if (held.baseline !== known) return null;
      const nowMs = store.now();
      const compared =
        seen && compare(before?.value ?? null, held.suspicions, seen, timing.confirmAfterMs);
      const suspicions = compared?.suspicions ?? held.suspicions;
      const plannedMs = planLookMs(held.host, suspicions, nowMs, timing);
      const nextLookAtMs = keptMs === null ? plannedMs : Math.min(keptMs, plannedMs);
      const looked = { ...held, ...scanned(held, seen, scan, timing), suspicions, nextLookAtMs };
      if (compared === null) return { state: looked };
      const text = JSON.stringify(compared.baseline);
      const isSame = text === before?.text;
      const baseline = isSame ? known : `seen_${crypto.randomUUID()}`;
      const told = addEvents({ ...looked, baseline }, compared.events, { nowMs, siteUrl });
      const texts = isSame || baseline === null ? [] : [{ id: baseline, text }];
      return { state: told.state, texts: [...told.texts, ...texts] };
    });
    onStep?.('look-stored');
  }

  async #change(next: (held: WatchState) => Changed | null): Promise<void> {
    const { store, timing } = this.#options;
    const { host } = this.#watch;
    const changed = await changeWatch({ store, timing }, host, ifSame(this.#watch, next));
    if (changed !== null) this.#watch = changed;
  }

  #origin(): Origin {
    return parseOrigin(this.#watch.originUrl, this.#options.policy);
  }
}

/** What a state says of scans, after this one. One that told nothing is none. */
function scanned(
  held: WatchState,
  seen: Seen | null,
  scan: FinishedScan | null,
  timing: WatchTiming,
): Partial<WatchState> {
  if (seen?.by !== 'scan') return {};
  const scannedDay = Math.max(held.scannedDay ?? 0, toDay(seen.atMs, timing));
  return { scannedDay, scannedAtMs: seen.atMs, scanId: scan?.scanId ?? held.scanId };
}
