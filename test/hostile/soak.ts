/** The whole farm, and what it may cost. */
import { defineSoak } from '../soak/soak.ts';
import { judge } from './bounds.ts';
import { measureCrowds } from './crowds.ts';
import { FARM } from './farm.ts';
import { WAITING_KINDS } from './farm-origin.ts';
import { measureHealth } from './health.ts';
import {
  type FarmProcess,
  type ScanProcess,
  startFarmProcess,
  startScanProcess,
} from './processes.ts';
import type { RoundTold, ScanTold } from './scan-process.ts';

const AT_ONCE = 20;
const SMALL_HEAP = '--max-old-space-size=1024';
const NAMES = FARM.map(({ name }) => name);

export default defineSoak({
  flags: { rounds: { from: 2, to: 100, usual: 10 } },

  async play({ rounds }) {
    await using stack = new AsyncDisposableStack();
    const farm = stack.use(await startFarmProcess());
    const scanner = stack.use(await startScanProcess());
    const visit = new FarmVisit(farm);
    await visit.scanEachAlone(scanner);
    const fresh = stack.use(await startScanProcess());
    const grown = await visit.scanInRounds(fresh, rounds);
    await visit.scanAmongGood(fresh);
    await visit.scanSlow(fresh);

    console.log(`${AT_ONCE} at once, in a process of a 1 GiB heap`);
    const survivesSmallHeap = await visit.survivesSmallHeap();

    console.log('64 hostile handshakes');
    const health = await measureHealth();
    console.log(`  ${health.handshakes} begun; at most ${Math.round(health.maxMs)} ms`);

    console.log(
      '20 scans at once of wide letters, 20 of objects, 6 of gigabytes, 20 of 8 MiB of OpenAPI',
    );
    const crowds = await measureCrowds();
    const { told, wrong, moved } = visit;
    return judge({
      wrong: [...new Set(wrong)],
      longestMs: Math.max(...told.flatMap(({ scans }) => scans.map(({ totalMs }) => totalMs))),
      firstRoundMib: grown[0] ?? 0,
      lastRoundMib: grown.at(-1) ?? 0,
      laterRoundsMib: (grown.at(-1) ?? 0) - (grown[1] ?? 0),
      delayP99Ms: Math.max(...told.map(({ delayP99Ms }) => delayP99Ms)),
      unhandled: told.flatMap(({ unhandled }) => unhandled),
      reachedInside: await farm.reachedInside(),
      outside: told.flatMap(({ outside }) => outside),
      moved,
      survivesSmallHeap,
      healthP99Ms: health.p99Ms,
      crowds,
    });
  },
});

/** All scans of one farm, and what each round measured. */
class FarmVisit {
  readonly #farm: FarmProcess;
  readonly #own: readonly string[];
  readonly #prompt: readonly string[];
  readonly #goodAlone = new Map<string, ScanTold>();
  readonly told: RoundTold[] = [];
  readonly wrong: string[] = [];
  readonly moved: string[] = [];

  constructor(farm: FarmProcess) {
    this.#farm = farm;
    this.#own = [...farm.urls.map(([, url]) => url), ...farm.good];
    this.#prompt = FARM.filter(({ kind }) => !WAITING_KINDS.has(kind)).map(({ name }) =>
      this.#urlOf(name),
    );
  }

  async scanEachAlone(scanner: ScanProcess): Promise<void> {
    console.log(`${FARM.length} origins, each alone`);
    for (const url of this.#farm.good) {
      const [scan] = (await this.#play(scanner, [url])).scans;
      if (scan !== undefined) this.#goodAlone.set(url, scan);
    }
    for (const name of NAMES) await this.#play(scanner, [this.#urlOf(name)], { isJudged: true });
  }

  /** Returns by how many MiB each round is above rest. */
  async scanInRounds(scanner: ScanProcess, rounds: number): Promise<readonly number[]> {
    console.log(`${AT_ONCE} at once, ${rounds} rounds`);
    const twenty = FARM.filter(({ kind }) => kind === 'document' || kind === 'wire')
      .slice(-AT_ONCE)
      .map(({ name }) => this.#urlOf(name));
    // Modules, heaps of workers and buffers are there from then on: that is what rest is.
    const { rssMib: restMib } = await this.#play(scanner, this.#farm.good, { toRest: true });
    const grown: number[] = [];
    for (let round = 1; round <= rounds; round += 1) {
      const one = await this.#play(scanner, twenty, { toRest: true, isJudged: true });
      grown.push(one.rssMib - restMib);
      console.log(
        `  round ${round}: ${Math.round(one.rssMib)} MiB, at most ${Math.round(one.peakMib)}; at rest ${Math.round(restMib)}`,
      );
    }
    return grown;
  }

  async scanAmongGood(scanner: ScanProcess): Promise<void> {
    console.log(`all of them by ${AT_ONCE}, good origins among them`);
    for (const urls of this.#groups()) {
      const { scans } = await this.#play(scanner, [...urls, ...this.#farm.good], {
        isJudged: true,
      });
      for (const scan of scans) {
        const alone = this.#goodAlone.get(scan.url);
        if (alone === undefined || alone.score === scan.score) continue;
        const cells = scan.cells.filter((cell) => !alone.cells.includes(cell)).join(', ');
        this.moved.push(
          `a good origin: ${alone.score} alone, ${scan.score} among hostile ones (${cells})`,
        );
      }
    }
  }

  async scanSlow(scanner: ScanProcess): Promise<void> {
    console.log(`${AT_ONCE} that are slow, by the clocks of earnest`);
    const slow = FARM.filter(({ kind }) => kind === 'clock')
      .slice(0, AT_ONCE)
      .map(({ name }) => this.#urlOf(name));
    await this.#play(scanner, slow, { fullClocks: true, toRest: true });
  }

  async survivesSmallHeap(): Promise<boolean> {
    const small = await startScanProcess([SMALL_HEAP]);
    const { ca } = this.#farm;
    try {
      for (const urls of this.#groups()) {
        await small.play({ urls, ca, patient: [], own: this.#own, toRest: false });
      }
      return true;
    } catch {
      return false;
    } finally {
      await small[Symbol.asyncDispose]();
    }
  }

  async #play(
    { play }: ScanProcess,
    urls: readonly string[],
    { fullClocks = false, toRest = false, isJudged = false } = {},
  ): Promise<RoundTold> {
    const { ca, good } = this.#farm;
    // A busy machine makes servers slow that do not mean to be, which is not a finding.
    const patient = fullClocks ? urls : [...good, ...this.#prompt];
    const one = await play({ urls, ca, patient, own: this.#own, toRest });
    this.told.push(one);
    if (isJudged) this.wrong.push(...this.#findMissed(one));
    return one;
  }

  #findMissed({ scans }: RoundTold): readonly string[] {
    return scans.flatMap(({ url, cells, failure }) => {
      const name = this.#farm.urls.find(([, one]) => one === url)?.[0];
      const origin = FARM.find((one) => one.name === name);
      if (origin === undefined || (cells.length === 25 && cells.includes(origin.finding)))
        return [];
      const id = `${origin.finding.split(' ')[0]} `;
      const seen = failure ?? cells.find((cell) => cell.startsWith(id)) ?? 'nothing';
      return [`${origin.name}: ${origin.finding} expected, ${seen}`];
    });
  }

  #groups(): readonly (readonly string[])[] {
    const groups = Object.groupBy([...NAMES.entries()], ([index]) => Math.floor(index / AT_ONCE));
    return Object.values(groups).map((group = []) => group.map(([, name]) => this.#urlOf(name)));
  }

  #urlOf(name: string): string {
    const found = this.#farm.urls.find(([one]) => one === name);
    if (found === undefined) throw new Error(`the farm has no origin that ${name}`);
    return found[1];
  }
}
