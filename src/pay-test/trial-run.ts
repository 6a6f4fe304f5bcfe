import { type Bench, type BenchParts, NoChallenge, toRouteName } from './bench.ts';
import {
  type Finding,
  type PayTested,
  PayTestImpossible,
  TRIAL_IDS,
  type TrialId,
} from './result.ts';
import { isListening, type SellerProcess } from './seller-process.ts';
import type { Target } from './target.ts';
import { type Found, mostRuns, toPayTestReport } from './trial-report.ts';
import { badHeaders } from './trials/bad-headers.ts';
import { obeysSettle, obeysVerify } from './trials/obeys-facilitator.ts';
import { failsClosed, settleInDoubt } from './trials/outages.ts';
import { ownTerms } from './trials/own-terms.ts';
import { caches, failedWork } from './trials/paid-answers.ts';
import { paths } from './trials/paths.ts';
import { type PaidOnce, paysAndDelivers } from './trials/pays-and-delivers.ts';
import { otherResource, race, replay, stale } from './trials/used-payments.ts';

export type TrialRunOptions = {
  readonly target: Target;
  readonly parts: BenchParts;
  /** Null where somebody else started the seller. */
  readonly seller: SellerProcess | null;
  readonly benches: readonly Bench[];
  readonly failing: Bench | null;
  readonly only: readonly TrialId[] | null;
  readonly say: (line: string) => void;
};

/** In the order of the run: T1 gives the others the answer that they compare with. */
const ON_EACH_ROUTE = ['T2', 'T3', 'T5', 'T7', 'T8', 'T9', 'T10', 'T11', 'T12', 'T13'] as const;
const ENDED = 'the process of the seller ended';

/** The trials of all routes, one after the other; those that wait on purpose last, together. */
export async function runTrials(options: TrialRunOptions): Promise<PayTested> {
  return await new TrialRun(options).run();
}

class TrialRun {
  readonly #options: TrialRunOptions;
  readonly #found: Found[] = [];
  /** The routes that could be paid at all. */
  readonly #tried = new Set<Bench>();
  #isDown = false;
  #restarts = 0;

  constructor(options: TrialRunOptions) {
    this.#options = options;
  }

  async run(): Promise<PayTested> {
    const { benches, failing, target, parts } = this.#options;
    this.#announce();
    const hopeless = new Map<Bench, string>();
    const [first] = benches;
    for (const bench of benches) {
      const why = await untriable(bench);
      if (why !== null) {
        this.#skip(bench, ['T1', ...ON_EACH_ROUTE], why);
        continue;
      }
      const reason = await this.#payOnce(bench);
      if (reason !== null) hopeless.set(bench, reason);
    }
    for (const bench of benches) {
      if (this.#tried.has(bench)) await this.#tryRoute(bench, hopeless.get(bench) ?? null);
    }
    if (this.#isWanted('T14')) await this.#failWork(failing);
    if (first !== undefined) await this.#tryOutages(first, hopeless.get(first) ?? null);
    const [why] = hopeless.values();
    const isHopeless = why !== undefined && hopeless.size === this.#tried.size;
    const report = toPayTestReport({
      target: target.origin,
      facilitator: parts.facilitator.url,
      routes: benches.map(({ route: { method, path } }) => ({ method, path })),
      found: this.#found,
      isWanted: (id) => this.#isWanted(id),
    });
    return { report, impossible: isHopeless ? `${why}: see T1` : null };
  }

  #announce(): void {
    const { benches, failing, say } = this.#options;
    const wanted = TRIAL_IDS.filter((id) => id === 'T1' || this.#isWanted(id));
    const runs = mostRuns(wanted, benches.length, failing !== null);
    const names = benches.map(({ route }) => toRouteName(route)).join(', ');
    say(`Paying ${names}: handlers may run up to ${runs} times.`);
  }

  #isWanted(id: TrialId): boolean {
    return this.#options.only?.includes(id) ?? true;
  }

  /** T1. Resolves to why no other trial can tell anything; null where they can. */
  async #payOnce(bench: Bench): Promise<string | null> {
    this.#tried.add(bench);
    let paidOnce: PaidOnce | null = null;
    const restarts = this.#restarts;
    await this.#try('T1', bench, async () => {
      paidOnce = await paysAndDelivers(bench);
      return paidOnce;
    });
    if (this.#isDown || this.#restarts > restarts)
      return 'a good payment ends the process of the seller';
    const { isUnasked, hopeless } = { isUnasked: false, hopeless: null, ...(paidOnce ?? {}) };
    if (!isUnasked) return hopeless;
    const { facilitator } = this.#options.parts;
    throw new PayTestImpossible(
      `${toRouteName(bench.route)} delivers without asking this facilitator (${facilitator.url}): wrong variable, or another facilitator`,
    );
  }

  async #tryRoute(bench: Bench, hopeless: string | null): Promise<void> {
    if (hopeless !== null) {
      this.#skip(bench, ON_EACH_ROUTE, `${hopeless}, see T1`);
      return;
    }
    const cheaper = this.#isWanted('T9') ? await this.#cheaperThan(bench) : null;
    const trials: Readonly<Record<(typeof ON_EACH_ROUTE)[number], () => Promise<Finding>>> = {
      T2: () => ownTerms(bench),
      T3: () => obeysVerify(bench),
      T5: () => obeysSettle(bench),
      T7: () => replay(bench),
      T8: () => race(bench),
      T9: () => otherResource(bench, cheaper),
      T10: () => stale(bench),
      T11: () => paths(bench),
      T12: () => badHeaders(bench, () => this.#isAlive()),
      T13: async () => caches(bench),
    };
    for (const id of ON_EACH_ROUTE) {
      if (this.#isWanted(id)) await this.#try(id, bench, trials[id]);
    }
  }

  /** A route with a lower price in the same asset; any other lower number else. */
  async #cheaperThan(bench: Bench): Promise<Bench | null> {
    const own = await priceOf(bench);
    if (own === null) return null;
    const others = await Promise.all(
      this.#options.benches.map(async (one) => ({ one, price: await priceOf(one) })),
    );
    const lower = others.filter(({ price }) => price !== null && price.amount < own.amount);
    return (lower.find(({ price }) => price?.asset === own.asset) ?? lower[0])?.one ?? null;
  }

  async #failWork(failing: Bench | null): Promise<void> {
    if (failing === null) {
      const evidence = 'name a route whose handler fails by --failing-route "GET /path"';
      this.#found.push({ id: 'T14', status: 'not_run', evidence, route: null });
      return;
    }
    await this.#try('T14', failing, () => failedWork(failing));
  }

  async #tryOutages(bench: Bench, hopeless: string | null): Promise<void> {
    const wanted = (['T4', 'T6'] as const).filter((id) => this.#isWanted(id));
    if (wanted.length === 0) return;
    const why = this.#isDown ? ENDED : (hopeless ?? (await untriable(bench)));
    if (why !== null) {
      this.#skip(bench, wanted, why);
      return;
    }
    const runs = { T4: failsClosed, T6: settleInDoubt };
    const findings = await Promise.all(wanted.map((id) => this.#guarded(() => runs[id](bench))));
    const hasEnded = !(await this.#isAlive());
    for (const [index, id] of wanted.entries()) {
      const finding = findings[index];
      if (finding !== undefined) this.#add(id, bench, finding, hasEnded);
    }
    if (hasEnded) await this.#restart();
  }

  /** A trial in which nobody answered is run once more: a slow machine is no finding. */
  async #try(id: TrialId, bench: Bench, trial: () => Promise<Finding>): Promise<void> {
    if (this.#isDown) {
      this.#skip(bench, [id], ENDED);
      return;
    }
    const before = bench.silences;
    let finding = await this.#guarded(trial);
    const isHanging = bench.silences > before;
    if (isHanging && (await this.#isAlive())) finding = await this.#guarded(trial);
    const hasEnded = !(await this.#isAlive());
    this.#add(id, bench, finding, hasEnded);
    if (hasEnded) await this.#restart();
  }

  async #guarded(trial: () => Promise<Finding>): Promise<Finding> {
    try {
      return await trial();
    } catch (error) {
      if (error instanceof NoChallenge) return { status: 'not_run', evidence: error.message };
      throw error;
    }
  }

  #add(id: TrialId, { route }: Bench, finding: Finding, hasEnded: boolean): void {
    const ended = hasEnded
      ? ({ status: 'fail', evidence: `${finding.evidence}; ${ENDED}` } as const)
      : {};
    this.#found.push({ id, route: toRouteName(route), ...finding, ...ended });
  }

  #skip({ route }: Bench, ids: readonly TrialId[], evidence: string): void {
    for (const id of ids) {
      if (id === 'T1' || this.#isWanted(id)) {
        this.#found.push({ id, route: toRouteName(route), status: 'not_run', evidence });
      }
    }
  }

  async #isAlive(): Promise<boolean> {
    const { seller, target } = this.#options;
    return seller?.hasEnded !== true && (await isListening(target));
  }

  /** Once; a seller that ends again, or that somebody else started, is left. */
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

async function priceOf(bench: Bench): Promise<{ amount: bigint; asset: string } | null> {
  try {
    const { terms } = await bench.challenge();
    if (!/^\d{1,78}$/.test(terms.amount)) return null;
    return { amount: BigInt(terms.amount), asset: `${terms.network} ${terms.asset.toLowerCase()}` };
  } catch (error) {
    if (error instanceof NoChallenge) return null;
    throw error;
  }
}

/** Why no trial can be run on a route; null where they can. */
async function untriable(bench: Bench): Promise<string | null> {
  try {
    await bench.challenge();
    return null;
  } catch (error) {
    if (error instanceof NoChallenge) return error.message;
    throw error;
  }
}
