import {
  notPaid,
  notRun,
  PayTestImpossible,
  type PayTestReport,
  ROUTE_TRIALS,
  TRIAL_IDS,
  type TrialFinding,
  type TrialId,
} from './result.ts';
import { type RouteTester, type TestParts, toRouteName } from './route-tester.ts';
import type { Target } from './seller-client.ts';
import { isListening, type SellerProcess } from './seller-process.ts';
import {
  countMaxRuns,
  findCheaperRoute,
  findObstacle,
  type RouteFinding,
  runOrSkip,
  toPayTestReport,
} from './trial-report.ts';
import { tryAnyPayment, tryBadHeaders } from './trials/bad-headers.ts';
import {
  tryRefusedSettle,
  tryRefusedVerify,
  trySettleOutages,
  tryVerifyOutages,
} from './trials/obeys-facilitator.ts';
import {
  judgeListing,
  tryExtensionResponses,
  tryPendingSettle,
  tryRefusalReason,
} from './trials/passed-on.ts';
import { tryPaths } from './trials/paths.ts';
import {
  judgeCaching,
  judgeUnpaidAnswer,
  tryFailedWork,
  tryFirstPayment,
} from './trials/pays-and-delivers.ts';
import {
  tryOtherResource,
  tryOwnTerms,
  tryRace,
  tryReplay,
  tryStaleTimes,
} from './trials/wrong-payments.ts';

export type TrialRunOptions = {
  readonly target: Target;
  readonly parts: TestParts;
  /** Null without `--start`. */
  readonly seller: SellerProcess | null;
  readonly testers: readonly RouteTester[];
  /** True if the operator named the routes; false if a scan found them. */
  readonly areRoutesNamed: boolean;
  /** The route of `--failing-route`. */
  readonly failingTester: RouteTester | null;
  readonly only: readonly TrialId[] | null;
  readonly say: (line: string) => void;
};

/** These trials need no payment that the seller accepts. */
const UNPAID_TRIALS: readonly TrialId[] = ['T11', 'T12'];
const PROCESS_ENDED = 'the process of the seller ended';

/** A route after T1, and which trials of it can run. */
type RouteState = {
  readonly tester: RouteTester;
  /** The finding of the trials that need a good payment; null if they can run. */
  readonly blocked: TrialFinding | null;
  /** True if the unpaid trials can run. */
  readonly asksForPayment: boolean;
  /** Trials that have a finding already. */
  readonly judgedIds: readonly TrialId[];
};

/** Runs the trials of each route one after the other. T4 and T6 run last and together, because they wait on purpose. */
export async function runTrials(options: TrialRunOptions): Promise<PayTestReport> {
  return await new TrialRun(options).run();
}

class TrialRun {
  readonly #options: TrialRunOptions;
  readonly #findings: RouteFinding[] = [];
  /** True if the seller's process has ended and does not run again. */
  #isDown = false;
  #restartCount = 0;
  /** Set if a route delivers without asking this facilitator, and does not take anything. */
  #otherFacilitatorReason: string | null = null;

  constructor(options: TrialRunOptions) {
    this.#options = options;
  }

  async run(): Promise<PayTestReport> {
    this.#announce();
    const states: RouteState[] = [];
    for (const tester of this.#options.testers) states.push(await this.#tryFirst(tester));
    this.#refuseOtherFacilitator();
    for (const state of states) await this.#tryRoute(state);
    // T14, T4 and T6 need one route whose other trials can be judged.
    const state = states.find(({ blocked }) => blocked === null) ?? states[0];
    if (this.#isWanted('T14')) await this.#tryFailedWork(state?.blocked ?? null);
    if (state !== undefined) await this.#tryOutages(state);
    return this.#toReport(states);
  }

  /** Throws PayTestImpossible if no route was judged, and one asks another facilitator. */
  #refuseOtherFacilitator(): void {
    const isJudged = this.#findings.some(({ status }) => status !== 'not_run');
    if (this.#otherFacilitatorReason !== null && !isJudged)
      throw new PayTestImpossible(this.#otherFacilitatorReason);
  }

  #announce(): void {
    const { testers, failingTester, say } = this.#options;
    const wantedIds = TRIAL_IDS.filter((id) => id === 'T1' || this.#isWanted(id));
    const runs = countMaxRuns(wantedIds, testers.length, failingTester !== null);
    const names = testers.map(({ route }) => toRouteName(route)).join(', ');
    say(`Paying ${names}: handlers may run up to ${runs} times.`);
  }

  #toReport(states: readonly RouteState[]): PayTestReport {
    const { testers, target, parts } = this.#options;
    return toPayTestReport({
      target: target.origin,
      facilitator: parts.facilitator.url,
      routes: testers.map(({ route: { method, path } }) => ({ method, path })),
      findings: this.#findings,
      isWanted: (id) => this.#isWanted(id),
      blockedRoutes: new Set(
        states
          .filter(({ blocked }) => blocked !== null)
          .map(({ tester: { route } }) => toRouteName(route)),
      ),
    });
  }

  #isWanted(id: TrialId): boolean {
    return this.#options.only?.includes(id) ?? true;
  }

  /** Runs T1, or says why the route cannot be paid. */
  async #tryFirst(tester: RouteTester): Promise<RouteState> {
    const obstacle = this.#isDown ? null : await findObstacle(tester);
    if (obstacle === null) return this.#payOnce(tester);
    const finding = judgeUnpaidAnswer(obstacle, tester, this.#options.areRoutesNamed);
    this.#addFinding('T1', tester, finding, false);
    const blocked = finding.status === 'not_run' ? finding : notPaid(finding.evidence);
    return { tester, blocked, asksForPayment: obstacle.asksForPayment, judgedIds: [] };
  }

  async #payOnce(tester: RouteTester): Promise<RouteState> {
    const restartsBefore = this.#restartCount;
    const finding = await this.#runTrial('T1', tester, () => tryFirstPayment(tester));
    const toState = (reason: string | null, asksForPayment: boolean): RouteState => {
      const blocked = reason === null ? null : notRun(`${reason}, see T1`);
      return { tester, blocked, asksForPayment, judgedIds: [] };
    };
    if (!('onlyT1Reason' in finding)) return toState(finding.evidence, false);
    if (this.#isDown || this.#restartCount > restartsBefore)
      return toState('a good payment ends the process of the seller', false);
    if (finding.hasSkippedFacilitator) return this.#tryAnyPayment(tester);
    return toState(finding.onlyT1Reason, !finding.isSilent);
  }

  /** The seller delivered without asking this facilitator: it takes anything, or asks another facilitator. */
  async #tryAnyPayment(tester: RouteTester): Promise<RouteState> {
    const { facilitator } = this.#options.parts;
    const name = toRouteName(tester.route);
    const findings = await tryAnyPayment(tester);
    for (const { id, finding } of findings) this.#addFinding(id, tester, finding, false);
    if (findings.length > 0) {
      const blocked = notRun('the seller delivers without asking this facilitator, see T1');
      return { tester, blocked, asksForPayment: true, judgedIds: findings.map(({ id }) => id) };
    }
    const reason = `${name} delivers without asking this facilitator: wrong variable, or another facilitator than ${facilitator.url}`;
    this.#otherFacilitatorReason ??= reason;
    const blocked = notPaid(reason);
    // Replaces the last finding, T1: it judged the seller by a facilitator that the seller does not ask.
    this.#findings.pop();
    this.#addFinding('T1', tester, blocked, false);
    return { tester, blocked, asksForPayment: true, judgedIds: [] };
  }

  async #tryRoute({ tester, blocked, asksForPayment, judgedIds }: RouteState): Promise<void> {
    const cheaper =
      blocked === null && this.#isWanted('T9')
        ? await findCheaperRoute(tester, this.#options.testers)
        : null;
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
    for (const id of ROUTE_TRIALS.filter((trialId) => !judgedIds.includes(trialId))) {
      if (!this.#isWanted(id)) continue;
      if (blocked === null || (asksForPayment && UNPAID_TRIALS.includes(id)))
        await this.#runTrial(id, tester, trials[id]);
      else this.#addFinding(id, tester, blocked, false);
    }
  }

  async #tryFailedWork(blocked: TrialFinding | null): Promise<void> {
    const tester = this.#options.failingTester;
    if (tester === null) {
      const finding = notRun(
        'to run it, name a route whose handler fails: --failing-route "GET /path"',
      );
      this.#findings.push({ id: 'T14', route: null, ...finding });
    } else if (blocked !== null) this.#addFinding('T14', tester, notRun(blocked.evidence), false);
    else await this.#runTrial('T14', tester, () => tryFailedWork(tester));
  }

  async #tryOutages({ tester, blocked }: RouteState): Promise<void> {
    const wantedIds = (['T4', 'T6'] as const).filter((id) => this.#isWanted(id));
    if (wantedIds.length === 0) return;
    const skipFinding = blocked ?? (await this.#findOutageObstacle(tester));
    if (skipFinding !== null) {
      for (const id of wantedIds) this.#addFinding(id, tester, skipFinding, false);
      return;
    }
    const trials = { T4: tryVerifyOutages, T6: trySettleOutages };
    const findings = await Promise.all(
      wantedIds.map(async (id) => ({ id, finding: await runOrSkip(() => trials[id](tester)) })),
    );
    const hasEnded = !(await this.#isAlive());
    for (const { id, finding } of findings) this.#addFinding(id, tester, finding, hasEnded);
    if (hasEnded) await this.#restart();
  }

  async #findOutageObstacle(tester: RouteTester): Promise<TrialFinding | null> {
    if (this.#isDown) return notRun(PROCESS_ENDED);
    const obstacle = await findObstacle(tester);
    return obstacle === null ? null : notRun(obstacle.message);
  }

  /** Repeats a trial with a timeout once, because a slow machine is not a finding. */
  async #runTrial<Finding extends TrialFinding>(
    id: TrialId,
    tester: RouteTester,
    trial: () => Promise<Finding>,
  ): Promise<Finding | TrialFinding> {
    if (this.#isDown) {
      const skipped = id === 'T1' ? notPaid(PROCESS_ENDED) : notRun(PROCESS_ENDED);
      this.#addFinding(id, tester, skipped, false);
      return skipped;
    }
    const timeoutsBefore = tester.timeoutCount;
    let finding = await runOrSkip(trial);
    if (tester.timeoutCount > timeoutsBefore && (await this.#isAlive()))
      finding = await runOrSkip(trial);
    const hasEnded = !(await this.#isAlive());
    this.#addFinding(id, tester, finding, hasEnded);
    if (hasEnded) await this.#restart();
    return finding;
  }

  #addFinding(id: TrialId, { route }: RouteTester, finding: TrialFinding, hasEnded: boolean): void {
    const changes: Partial<TrialFinding> = hasEnded
      ? { status: 'fail', evidence: `${finding.evidence}; ${PROCESS_ENDED}` }
      : {};
    this.#findings.push({ id, route: toRouteName(route), ...finding, ...changes });
  }

  async #isAlive(): Promise<boolean> {
    const { seller, target } = this.#options;
    return seller?.hasEnded !== true && (await isListening(target));
  }

  /** Starts the seller again, but only once in a run, and only if `--start` started it. */
  async #restart(): Promise<void> {
    const { seller, target, parts, say } = this.#options;
    this.#isDown = true;
    if (seller === null || this.#restartCount > 0) return;
    this.#restartCount += 1;
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
