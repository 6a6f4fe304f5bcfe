import {
  notPaid,
  notRun,
  PayTestImpossible,
  type PayTestReport,
  TRIAL_IDS,
  type TrialFinding,
  type TrialId,
} from './result.ts';
import {
  findObstacle,
  type RouteTester,
  runOrSkip,
  type TestParts,
  toRouteName,
} from './route-tester.ts';
import type { Target } from './seller-client.ts';
import { isListening, type SellerProcess } from './seller-process.ts';
import { countMaxRuns, type RouteFinding, toPayTestReport } from './trial-report.ts';
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
type TriedRoute = {
  readonly tester: RouteTester;
  /** The finding for all trials that need a good payment; null if these trials can run. */
  readonly skipFinding: TrialFinding | null;
  /** True if the unpaid trials can run. */
  readonly asksForPayment: boolean;
  /** Trials other than T1 that have a finding already. Default: none. */
  readonly judgedIds?: readonly TrialId[];
};

/** Runs the trials of each route one after the other. T4 and T6 run last and together, because they wait on purpose. */
export class TrialRun {
  readonly #options: TrialRunOptions;
  readonly #findings: RouteFinding[] = [];
  /** True if the seller's process has ended and does not run again. */
  #isDown = false;
  #restartCount = 0;
  /** Set if a route delivers without asking this facilitator, but refuses bad payments. */
  #otherFacilitatorReason: string | null = null;

  constructor(options: TrialRunOptions) {
    this.#options = options;
  }

  async run(): Promise<PayTestReport> {
    this.#announce();
    const routes: TriedRoute[] = [];
    for (const tester of this.#options.testers) routes.push(await this.#tryFirst(tester));
    this.#refuseOtherFacilitator();
    for (const route of routes) await this.#tryRoute(route);
    // T14, T4 and T6 need one route whose other trials can be judged.
    const route = routes.find(({ skipFinding }) => skipFinding === null) ?? routes[0];
    if (this.#isWanted('T14')) await this.#tryFailedWork(route?.skipFinding ?? null);
    if (route !== undefined) await this.#tryOutages(route);
    return this.#toReport(routes);
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

  #toReport(routes: readonly TriedRoute[]): PayTestReport {
    const { testers, target, parts } = this.#options;
    return toPayTestReport({
      target: target.origin,
      facilitator: parts.facilitator.url,
      routes: testers.map(({ route: { method, path } }) => ({ method, path })),
      findings: this.#findings,
      isWanted: (id) => this.#isWanted(id),
      blockedRoutes: new Set(
        routes
          .filter(({ skipFinding }) => skipFinding !== null)
          .map(({ tester: { route } }) => toRouteName(route)),
      ),
    });
  }

  #isWanted(id: TrialId): boolean {
    return this.#options.only?.includes(id) ?? true;
  }

  /** Runs T1, or says why the route cannot be paid. */
  async #tryFirst(tester: RouteTester): Promise<TriedRoute> {
    const obstacle = this.#isDown ? null : await findObstacle(tester);
    // If the seller is down, `#payOnce` adds the finding for that.
    if (obstacle === null) return this.#payOnce(tester);
    const finding = judgeUnpaidAnswer(obstacle, tester, this.#options.areRoutesNamed);
    this.#addFinding('T1', tester, finding);
    const skipFinding = finding.status === 'not_run' ? finding : notPaid(finding.evidence);
    return { tester, skipFinding, asksForPayment: obstacle.asksForPayment };
  }

  async #payOnce(tester: RouteTester): Promise<TriedRoute> {
    const restartsBefore = this.#restartCount;
    const finding = await this.#runTrial('T1', tester, () => tryFirstPayment(tester));
    const toTriedRoute = (skipReason: string | null, asksForPayment: boolean): TriedRoute => {
      const skipFinding = skipReason === null ? null : notRun(`${skipReason}, see T1`);
      return { tester, skipFinding, asksForPayment };
    };
    // T1 itself did not run.
    if (!('skipReason' in finding)) return toTriedRoute(finding.evidence, false);
    if (this.#isDown || this.#restartCount > restartsBefore)
      return toTriedRoute('a good payment ends the process of the seller', false);
    if (finding.hasSkippedFacilitator) return this.#sendBadPayments(tester);
    return toTriedRoute(finding.skipReason, !finding.isSilent);
  }

  /** The seller delivered without asking this facilitator: it takes anything, or asks another facilitator. */
  async #sendBadPayments(tester: RouteTester): Promise<TriedRoute> {
    const failures = await tryAnyPayment(tester);
    for (const { id, finding } of failures) this.#addFinding(id, tester, finding);
    if (failures.length > 0) {
      const skipFinding = notRun('the seller delivers without asking this facilitator, see T1');
      return { tester, skipFinding, asksForPayment: true, judgedIds: failures.map(({ id }) => id) };
    }
    const { url } = this.#options.parts.facilitator;
    const reason = `${toRouteName(tester.route)} delivers without asking this facilitator: wrong variable, or another facilitator than ${url}`;
    this.#otherFacilitatorReason ??= reason;
    const skipFinding = notPaid(reason);
    // Replaces the last finding, T1: it judged the seller by a facilitator that the seller does not ask.
    this.#findings.pop();
    this.#addFinding('T1', tester, skipFinding);
    return { tester, skipFinding, asksForPayment: true };
  }

  async #tryRoute(route: TriedRoute): Promise<void> {
    const { tester, skipFinding, asksForPayment, judgedIds = [] } = route;
    const trials: readonly (readonly [TrialId, () => Promise<TrialFinding>])[] = [
      ['T2', () => tryOwnTerms(tester)],
      ['T3', () => tryRefusedVerify(tester)],
      ['T5', () => tryRefusedSettle(tester)],
      ['T7', () => tryReplay(tester)],
      ['T8', () => tryRace(tester)],
      ['T9', () => tryOtherResource(tester, this.#options.testers)],
      ['T10', () => tryStaleTimes(tester)],
      ['T11', () => tryPaths(tester)],
      ['T12', () => tryBadHeaders(tester, () => this.#isAlive())],
      ['T13', async () => judgeCaching(tester)],
      ['T15', async () => judgeListing(tester)],
      ['T16', () => tryRefusalReason(tester)],
      ['T17', () => tryPendingSettle(tester)],
      ['T18', () => tryExtensionResponses(tester)],
    ];
    for (const [id, trial] of trials) {
      if (judgedIds.includes(id) || !this.#isWanted(id)) continue;
      const canRun = skipFinding === null || (asksForPayment && UNPAID_TRIALS.includes(id));
      if (canRun) await this.#runTrial(id, tester, trial);
      else this.#addFinding(id, tester, skipFinding);
    }
  }

  /** @param skipFinding as in TriedRoute */
  async #tryFailedWork(skipFinding: TrialFinding | null): Promise<void> {
    const tester = this.#options.failingTester;
    if (tester === null) {
      const finding = notRun(
        'to run it, name a route whose handler fails: --failing-route "GET /path"',
      );
      this.#findings.push({ id: 'T14', route: null, ...finding });
    } else if (skipFinding !== null) this.#addFinding('T14', tester, skipFinding);
    else await this.#runTrial('T14', tester, () => tryFailedWork(tester));
  }

  async #tryOutages({ tester, ...route }: TriedRoute): Promise<void> {
    const wantedIds = (['T4', 'T6'] as const).filter((id) => this.#isWanted(id));
    if (wantedIds.length === 0) return;
    const skipFinding = route.skipFinding ?? (await this.#findOutageObstacle(tester));
    if (skipFinding !== null) {
      for (const id of wantedIds) this.#addFinding(id, tester, skipFinding);
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
    return obstacle && notRun(obstacle.message);
  }

  /** Repeats a trial with a timeout once, because a slow machine is not a finding. */
  async #runTrial<Finding extends TrialFinding>(
    id: TrialId,
    tester: RouteTester,
    trial: () => Promise<Finding>,
  ): Promise<Finding | TrialFinding> {
    if (this.#isDown) {
      // T1 is the good payment, so without it the route was not paid.
      const skipped = id === 'T1' ? notPaid(PROCESS_ENDED) : notRun(PROCESS_ENDED);
      this.#addFinding(id, tester, skipped);
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

  /** @param hasEnded true if the trial ended the seller's process, which fails it */
  #addFinding(id: TrialId, { route }: RouteTester, finding: TrialFinding, hasEnded = false): void {
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
