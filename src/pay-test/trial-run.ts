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
import { mostRuns, type RouteFinding, toPayTestReport } from './trial-report.ts';
import { badHeaders } from './trials/bad-headers.ts';
import { obeysSettle, obeysVerify } from './trials/obeys-facilitator.ts';
import { failsClosed, settleInDoubt } from './trials/outages.ts';
import { ownTerms } from './trials/own-terms.ts';
import { caches, failedWork } from './trials/paid-answers.ts';
import { keepsToItself, listsItself, saysWhy } from './trials/passed-on.ts';
import { paths } from './trials/paths.ts';
import { type FirstPayment, paysAndDelivers } from './trials/pays-and-delivers.ts';
import { pending } from './trials/pending.ts';
import { otherResource, race, replay, stale } from './trials/used-payments.ts';

export type TrialRunOptions = {
  readonly target: Target;
  readonly parts: TestParts;
  /** Null if the seller was not started by `--start`. */
  readonly seller: SellerProcess | null;
  readonly testers: readonly RouteTester[];
  readonly failing: RouteTester | null;
  readonly only: readonly TrialId[] | null;
  readonly say: (line: string) => void;
};

/** These follow T1, whose answer they compare with. */
const ON_EACH_ROUTE = [
  ...(['T2', 'T3', 'T5', 'T7', 'T8', 'T9', 'T10', 'T11', 'T12', 'T13'] as const),
  ...(['T15', 'T16', 'T17', 'T18'] as const),
] as const;
const ENDED = 'the process of the seller ended';

/** Runs the trials of all routes in turn. T4 and T6 wait on purpose, so they run last, together. */
export async function runTrials(options: TrialRunOptions): Promise<PayTestReport> {
  return await new TrialRun(options).run();
}

class TrialRun {
  readonly #options: TrialRunOptions;
  readonly #findings: RouteFinding[] = [];
  #isDown = false;
  #restarts = 0;

  constructor(options: TrialRunOptions) {
    this.#options = options;
  }

  async run(): Promise<PayTestReport> {
    const { testers, failing } = this.#options;
    this.#announce();
    /** The routes with a challenge, and the reason that only T1 can be judged; null if all can. */
    const tried = new Map<RouteTester, string | null>();
    for (const tester of testers) {
      const why = await findNoChallenge(tester);
      if (why === null) tried.set(tester, await this.#payOnce(tester));
      else this.#skip(tester, ['T1', ...ON_EACH_ROUTE], why);
    }
    for (const [tester, hopeless] of tried) await this.#tryRoute(tester, hopeless);
    const whys = [...tried.values()];
    const [why = null] = whys.includes(null) ? [] : whys;
    if (this.#isWanted('T14')) await this.#failWork(failing, why);
    const [first] = testers;
    if (first !== undefined) await this.#tryOutages(first, tried.get(first) ?? null);
    return this.#toReport();
  }

  #announce(): void {
    const { testers, failing, say } = this.#options;
    const wanted = TRIAL_IDS.filter((id) => id === 'T1' || this.#isWanted(id));
    const runs = mostRuns(wanted, testers.length, failing !== null);
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

  /** Runs T1. Resolves to the reason that no other trial can be judged; null if they can. */
  async #payOnce(tester: RouteTester): Promise<string | null> {
    let first: FirstPayment | null = null;
    const restarts = this.#restarts;
    await this.#try('T1', tester, async () => {
      first = await paysAndDelivers(tester);
      return first;
    });
    if (this.#isDown || this.#restarts > restarts) {
      return 'a good payment ends the process of the seller';
    }
    const { isUnasked, hopeless } = { isUnasked: false, hopeless: null, ...(first ?? {}) };
    if (!isUnasked) return hopeless;
    const { facilitator } = this.#options.parts;
    throw new PayTestImpossible(
      `${toRouteName(tester.route)} delivers without asking this facilitator: wrong variable, or another facilitator than ${facilitator.url}`,
    );
  }

  async #tryRoute(tester: RouteTester, hopeless: string | null): Promise<void> {
    if (hopeless !== null) {
      this.#skip(tester, ON_EACH_ROUTE, `${hopeless}, see T1`);
      return;
    }
    const cheaper = this.#isWanted('T9') ? await this.#findCheaper(tester) : null;
    const trials: Readonly<Record<(typeof ON_EACH_ROUTE)[number], () => Promise<TrialFinding>>> = {
      T2: () => ownTerms(tester),
      T3: () => obeysVerify(tester),
      T5: () => obeysSettle(tester),
      T7: () => replay(tester),
      T8: () => race(tester),
      T9: () => otherResource(tester, cheaper),
      T10: () => stale(tester),
      T11: () => paths(tester),
      T12: () => badHeaders(tester, () => this.#isAlive()),
      T13: async () => caches(tester),
      T15: async () => listsItself(tester),
      T16: () => saysWhy(tester),
      T17: () => pending(tester),
      T18: () => keepsToItself(tester),
    };
    for (const id of ON_EACH_ROUTE) {
      if (this.#isWanted(id)) await this.#try(id, tester, trials[id]);
    }
  }

  /** Finds a route with a lower price, in the same asset if there is one. */
  async #findCheaper(tester: RouteTester): Promise<RouteTester | null> {
    const own = await findPrice(tester);
    if (own === null) return null;
    const others = await Promise.all(
      this.#options.testers.map(async (one) => ({ one, price: await findPrice(one) })),
    );
    const lower = others.filter(({ price }) => price !== null && price.amount < own.amount);
    return (lower.find(({ price }) => price?.asset === own.asset) ?? lower[0])?.one ?? null;
  }

  async #failWork(failing: RouteTester | null, hopeless: string | null): Promise<void> {
    if (failing === null) {
      const finding = notRun('name a route whose handler fails by --failing-route "GET /path"');
      this.#findings.push({ id: 'T14', route: null, ...finding });
    } else if (hopeless !== null) this.#skip(failing, ['T14'], `${hopeless}, see T1`);
    else await this.#try('T14', failing, () => failedWork(failing));
  }

  async #tryOutages(tester: RouteTester, hopeless: string | null): Promise<void> {
    const wanted = (['T4', 'T6'] as const).filter((id) => this.#isWanted(id));
    if (wanted.length === 0) return;
    const why = this.#isDown ? ENDED : (hopeless ?? (await findNoChallenge(tester)));
    if (why !== null) {
      this.#skip(tester, wanted, why);
      return;
    }
    const runs = { T4: failsClosed, T6: settleInDoubt };
    const findings = await Promise.all(
      wanted.map(async (id) => ({ id, finding: await orNotRun(() => runs[id](tester)) })),
    );
    const hasEnded = !(await this.#isAlive());
    for (const { id, finding } of findings) this.#add(id, tester, finding, hasEnded);
    if (hasEnded) await this.#restart();
  }

  /** Repeats a trial with a timeout once, because a slow machine is not a finding. */
  async #try(id: TrialId, tester: RouteTester, trial: () => Promise<TrialFinding>): Promise<void> {
    if (this.#isDown) {
      this.#skip(tester, [id], ENDED);
      return;
    }
    const before = tester.timeouts;
    let finding = await orNotRun(trial);
    if (tester.timeouts > before && (await this.#isAlive())) finding = await orNotRun(trial);
    const hasEnded = !(await this.#isAlive());
    this.#add(id, tester, finding, hasEnded);
    if (hasEnded) await this.#restart();
  }

  #add(id: TrialId, { route }: RouteTester, finding: TrialFinding, hasEnded: boolean): void {
    const ended: Partial<TrialFinding> = hasEnded
      ? { status: 'fail', evidence: `${finding.evidence}; ${ENDED}` }
      : {};
    this.#findings.push({ id, route: toRouteName(route), ...finding, ...ended });
  }

  #skip({ route }: RouteTester, ids: readonly TrialId[], evidence: string): void {
    for (const id of ids) {
      if (id !== 'T1' && !this.#isWanted(id)) continue;
      this.#findings.push({ id, route: toRouteName(route), ...notRun(evidence) });
    }
  }

  async #isAlive(): Promise<boolean> {
    const { seller, target } = this.#options;
    return seller?.hasEnded !== true && (await isListening(target));
  }

  /** Starts the seller again, once in a run and only if `--start` started it. */
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

async function orNotRun(trial: () => Promise<TrialFinding>): Promise<TrialFinding> {
  return withoutChallenge(trial, ({ message }) => notRun(message));
}

async function findPrice(tester: RouteTester): Promise<{ amount: bigint; asset: string } | null> {
  return withoutChallenge(
    async () => {
      const { network, asset, amount } = (await tester.challenge()).terms;
      if (!/^\d{1,78}$/.test(amount)) return null;
      return { amount: BigInt(amount), asset: `${network} ${asset.toLowerCase()}` };
    },
    () => null,
  );
}

/** Resolves to the reason that no trial can be run on a route; null if they can. */
async function findNoChallenge(tester: RouteTester): Promise<string | null> {
  return withoutChallenge(
    () => tester.challenge().then(() => null),
    ({ message }) => message,
  );
}

/** Catches only NoChallenge. */
async function withoutChallenge<T, U>(
  work: () => Promise<T>,
  otherwise: (error: NoChallenge) => U,
) {
  try {
    return await work();
  } catch (error) {
    if (error instanceof NoChallenge) return otherwise(error);
    throw error;
  }
}
