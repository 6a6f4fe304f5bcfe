import {
  notRun,
  PayTestImpossible,
  type PayTestReport,
  TRIAL_IDS,
  type TrialFinding,
  type TrialId,
} from './result.ts';
import { NoChallenge, type RouteTester, type TestParts, toRouteName } from './route-tester.ts';
import { isListening, type SellerProcess } from './seller-process.ts';
import type { Target } from './target.ts';
import { countMaxRuns, type RouteFinding, toPayTestReport } from './trial-report.ts';
import { tryBadHeaders } from './trials/bad-headers.ts';
import { tryRefusedSettle, tryRefusedVerify } from './trials/obeys-facilitator.ts';
import { trySettleOutages, tryVerifyOutages } from './trials/outages.ts';
import { tryOwnTerms } from './trials/own-terms.ts';
import { judgeCaching, tryFailedWork } from './trials/paid-answers.ts';
import { judgeListing, tryExtensionResponses, tryRefusalReason } from './trials/passed-on.ts';
import { tryPaths } from './trials/paths.ts';
import { type FirstPaymentFlags, tryFirstPayment } from './trials/pays-and-delivers.ts';
import { tryPendingSettle } from './trials/pending.ts';
import { tryOtherResource, tryRace, tryReplay, tryStaleTimes } from './trials/used-payments.ts';

export type TrialRunOptions = {
  readonly target: Target;
  readonly parts: TestParts;
  /** Null without `--start`. */
  readonly seller: SellerProcess | null;
  readonly testers: readonly RouteTester[];
  /** The route of `--failing-route`. */
  readonly failingTester: RouteTester | null;
  readonly only: readonly TrialId[] | null;
  readonly say: (line: string) => void;
};

/** These trials follow T1. Some compare an answer with the paid answer of T1. */
const ROUTE_TRIALS = [
  ...(['T2', 'T3', 'T5', 'T7', 'T8', 'T9', 'T10', 'T11', 'T12', 'T13'] as const),
  ...(['T15', 'T16', 'T17', 'T18'] as const),
] as const;
const PROCESS_ENDED = 'the process of the seller ended';

/** Runs the trials of each route one after the other. T4 and T6 run last and together, because they wait on purpose. */
export async function runTrials(options: TrialRunOptions): Promise<PayTestReport> {
  return await new TrialRun(options).run();
}

class TrialRun {
  readonly #options: TrialRunOptions;
  readonly #findings: RouteFinding[] = [];
  /** True if the seller's process has ended and does not run again. */
  #isDown = false;
  #restarts = 0;

  constructor(options: TrialRunOptions) {
    this.#options = options;
  }

  async run(): Promise<PayTestReport> {
    const { testers } = this.#options;
    this.#announce();
    // Maps each route with a challenge to the reason why only T1 can be judged, or to null.
    const onlyT1Reasons = new Map<RouteTester, string | null>();
    for (const tester of testers) {
      const skipReason = await findSkipReason(tester);
      if (skipReason === null) onlyT1Reasons.set(tester, await this.#payOnce(tester));
      else this.#addNotRun(tester, ['T1', ...ROUTE_TRIALS], skipReason);
    }
    for (const [tester, onlyT1Reason] of onlyT1Reasons) await this.#tryRoute(tester, onlyT1Reason);
    // T14 needs one route whose other trials can be judged.
    const reasons = [...onlyT1Reasons.values()];
    const [onlyT1Reason = null] = reasons.includes(null) ? [] : reasons;
    if (this.#isWanted('T14')) await this.#tryFailedWork(onlyT1Reason);
    const [first] = testers;
    if (first !== undefined) await this.#tryOutages(first, onlyT1Reasons.get(first) ?? null);
    return this.#toReport();
  }

  #announce(): void {
    const { testers, failingTester, say } = this.#options;
    const wantedIds = TRIAL_IDS.filter((id) => id === 'T1' || this.#isWanted(id));
    const runs = countMaxRuns(wantedIds, testers.length, failingTester !== null);
    const names = testers.map(({ route }) => toRouteName(route)).join(', ');
    say(`Paying ${names}: handlers may run up to ${runs} times.`);
  }

  #toReport(): PayTestReport {
    const { testers, target, parts } = this.#options;
    return toPayTestReport({
      target: target.origin,
      facilitator: parts.facilitator.url,
      routes: testers.map(({ route: { method, path } }) => ({ method, path })),
      findings: this.#findings,
      isWanted: (id) => this.#isWanted(id),
    });
  }

  #isWanted(id: TrialId): boolean {
    return this.#options.only?.includes(id) ?? true;
  }

  /** Runs T1. Resolves to the reason why no other trial can be judged, or to null. */
  async #payOnce(tester: RouteTester): Promise<string | null> {
    let flags: FirstPaymentFlags = { hasSkippedFacilitator: false, onlyT1Reason: null };
    const restarts = this.#restarts;
    await this.#runTrial('T1', tester, async () => {
      const finding = await tryFirstPayment(tester);
      flags = finding;
      return finding;
    });
    if (this.#isDown || this.#restarts > restarts)
      return 'a good payment ends the process of the seller';
    if (!flags.hasSkippedFacilitator) return flags.onlyT1Reason;
    const { facilitator } = this.#options.parts;
    throw new PayTestImpossible(
      `${toRouteName(tester.route)} delivers without asking this facilitator: wrong variable, or another facilitator than ${facilitator.url}`,
    );
  }

  async #tryRoute(tester: RouteTester, onlyT1Reason: string | null): Promise<void> {
    if (onlyT1Reason !== null)
      return this.#addNotRun(tester, ROUTE_TRIALS, `${onlyT1Reason}, see T1`);
    const cheaper = this.#isWanted('T9') ? await this.#findCheaperRoute(tester) : null;
    const trials: Readonly<Record<(typeof ROUTE_TRIALS)[number], () => Promise<TrialFinding>>> = {
      T2: () => tryOwnTerms(tester),
      T3: () => tryRefusedVerify(tester),
      T5: () => tryRefusedSettle(tester),
      T7: () => tryReplay(tester),
      T8: () => tryRace(tester),
      T9: () => tryOtherResource(tester, cheaper),
      T10: () => tryStaleTimes(tester),
      T11: () => tryPaths(tester),
      T12: () => tryBadHeaders(tester, () => this.#isAlive()),
      T13: async () => judgeCaching(tester),
      T15: async () => judgeListing(tester),
      T16: () => tryRefusalReason(tester),
      T17: () => tryPendingSettle(tester),
      T18: () => tryExtensionResponses(tester),
    };
    for (const id of ROUTE_TRIALS) {
      if (this.#isWanted(id)) await this.#runTrial(id, tester, trials[id]);
    }
  }

  /** Finds a route with a lower price, preferably in the same asset. */
  async #findCheaperRoute(tester: RouteTester): Promise<RouteTester | null> {
    const ownPrice = await findPrice(tester);
    if (ownPrice === null) return null;
    const others = await Promise.all(
      this.#options.testers.map(async (other) => ({ other, price: await findPrice(other) })),
    );
    const cheaper = others.filter(({ price }) => price !== null && price.amount < ownPrice.amount);
    const sameAsset = cheaper.find(({ price }) => price?.asset === ownPrice.asset);
    return (sameAsset ?? cheaper[0])?.other ?? null;
  }

  async #tryFailedWork(onlyT1Reason: string | null): Promise<void> {
    const tester = this.#options.failingTester;
    if (tester === null) {
      const finding = notRun(
        'to run it, name a route whose handler fails: --failing-route "GET /path"',
      );
      this.#findings.push({ id: 'T14', route: null, ...finding });
    } else if (onlyT1Reason !== null) this.#addNotRun(tester, ['T14'], `${onlyT1Reason}, see T1`);
    else await this.#runTrial('T14', tester, () => tryFailedWork(tester));
  }

  async #tryOutages(tester: RouteTester, onlyT1Reason: string | null): Promise<void> {
    const wantedIds = (['T4', 'T6'] as const).filter((id) => this.#isWanted(id));
    if (wantedIds.length === 0) return;
    const skipReason = this.#isDown
      ? PROCESS_ENDED
      : (onlyT1Reason ?? (await findSkipReason(tester)));
    if (skipReason !== null) return this.#addNotRun(tester, wantedIds, skipReason);
    const runs = { T4: tryVerifyOutages, T6: trySettleOutages };
    const findings = await Promise.all(
      wantedIds.map(async (id) => ({ id, finding: await runOrSkip(() => runs[id](tester)) })),
    );
    const hasEnded = !(await this.#isAlive());
    for (const { id, finding } of findings) this.#addFinding(id, tester, finding, hasEnded);
    if (hasEnded) await this.#restart();
  }

  /** Repeats a trial with a timeout once, because a slow machine is not a finding. */
  async #runTrial(
    id: TrialId,
    tester: RouteTester,
    trial: () => Promise<TrialFinding>,
  ): Promise<void> {
    if (this.#isDown) return this.#addNotRun(tester, [id], PROCESS_ENDED);
    const timeoutsBefore = tester.timeoutCount;
    let finding = await runOrSkip(trial);
    if (tester.timeoutCount > timeoutsBefore && (await this.#isAlive()))
      finding = await runOrSkip(trial);
    const hasEnded = !(await this.#isAlive());
    this.#addFinding(id, tester, finding, hasEnded);
    if (hasEnded) await this.#restart();
  }

  #addFinding(id: TrialId, { route }: RouteTester, finding: TrialFinding, hasEnded: boolean): void {
    const changes: Partial<TrialFinding> = hasEnded
      ? { status: 'fail', evidence: `${finding.evidence}; ${PROCESS_ENDED}` }
      : {};
    this.#findings.push({ id, route: toRouteName(route), ...finding, ...changes });
  }

  #addNotRun({ route }: RouteTester, ids: readonly TrialId[], evidence: string): void {
    for (const id of ids) {
      if (id !== 'T1' && !this.#isWanted(id)) continue;
      this.#findings.push({ id, route: toRouteName(route), ...notRun(evidence) });
    }
  }

  async #isAlive(): Promise<boolean> {
    const { seller, target } = this.#options;
    return seller?.hasEnded !== true && (await isListening(target));
  }

  /** Starts the seller again, but only once in a run, and only if `--start` started it. */
  async #restart(): Promise<void> {
    const { seller, target, parts, say } = this.#options;
    this.#isDown = true;
    if (seller === null || this.#restarts > 0) return;
    this.#restarts += 1;
    await seller.stop();
    try {
      await seller.start(target, parts.timing.startMs);
      this.#isDown = false;
    } catch (error) {
      if (!(error instanceof PayTestImpossible)) throw error;
      say(error.message);
    }
  }
}

async function runOrSkip(trial: () => Promise<TrialFinding>): Promise<TrialFinding> {
  return catchNoChallenge(trial, ({ message }) => notRun(message));
}

async function findPrice(tester: RouteTester): Promise<{ amount: bigint; asset: string } | null> {
  return catchNoChallenge(
    async () => {
      const { network, asset, amount } = (await tester.fetchChallenge()).terms;
      if (!/^\d{1,78}$/.test(amount)) return null;
      return { amount: BigInt(amount), asset: `${network} ${asset.toLowerCase()}` };
    },
    () => null,
  );
}

/** Resolves to the reason why no trial can run on the route, or to null. */
async function findSkipReason(tester: RouteTester): Promise<string | null> {
  return catchNoChallenge(
    () => tester.fetchChallenge().then(() => null),
    ({ message }) => message,
  );
}

/** Catches only NoChallenge. */
async function catchNoChallenge<T, U>(
  work: () => Promise<T>,
  onNoChallenge: (error: NoChallenge) => U,
) {
  try {
    return await work();
  } catch (error) {
    if (error instanceof NoChallenge) return onNoChallenge(error);
    throw error;
  }
}
