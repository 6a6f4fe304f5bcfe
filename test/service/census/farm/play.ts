/** A farm of sellers, the indexes that list it, and days of the census on a moved clock. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { utcDay } from '../../../../src/service/store/statistics.ts';
import { diceOf } from '../../../fixtures/dice.ts';
import { type IndexMood, startIndexes } from './indexes.ts';
import { type Clock, Instance, Killed } from './instances.ts';
import type { FromInstance, InstanceOptions, TellWord } from './messages.ts';
import { type LoggedRequest, type SellerServer, startSellers } from './seller-server.ts';
import { HOUR_MS, listingsOf, type Seller, type Size, sellersOf, urlOf } from './world.ts';

export type PlayOptions = Size & {
  readonly days: number;
  /** Number of hosts in a thousand whose weekly scans are real. */
  readonly realScans: number;
  /** Default 1. More need a store that they can share. */
  readonly instances?: number;
  /** Default: a file, and kills. */
  readonly storeUrl?: string;
  onDay?(day: number, requests: number): void;
};

export type Kill = {
  readonly day: number;
  /** The moved clock at the kill, and at the start after it. */
  readonly atMs: number;
  readonly againMs: number;
  readonly realMs: number;
};

export type Played = {
  readonly sellers: readonly Seller[];
  readonly log: readonly LoggedRequest[];
  readonly words: readonly TellWord[];
  /** Hosts that have a record. */
  readonly records: readonly string[];
  /** Hosts that the census keeps. */
  readonly hosts: readonly string[];
  /** `${name} ${day}` of each scan. */
  readonly scans: ReadonlySet<string>;
  readonly kills: readonly Kill[];
  readonly outage: { readonly fromMs: number; readonly toMs: number };
  /** The first import begins. */
  readonly startMs: number;
  readonly firstDay: number;
  readonly days: number;
  /** By host: the length of the log at the moment at which the wish of its owner was stored, and the day. */
  readonly left: ReadonlyMap<string, { readonly logLength: number; readonly day: number }>;
  /** Number of words that each instance has said since its last start. */
  readonly wordCounts: readonly number[];
  readonly troubles: readonly string[];
};

const DAY_MS = 24 * HOUR_MS;
/** The first day of a week does not matter; this one is in the future of no certificate. */
const START_MS = Date.UTC(2026, 8, 1) + 1_000;
const STEP_MS = 120_000;
const SECOND_MS = 1_000;
const KILL_EACH = 3;
const OUTAGE_DAY = 4;
const MIN_OUTAGE_LOOKS = 25;
const BUSY_DAY = 5;
const BROKEN_DAY = 6;

export async function playDays(options: PlayOptions): Promise<Played> {
  await using undo = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), 'census-farm-'));
  undo.defer(() => rm(folder, { recursive: true, force: true }));
  const sellers = sellersOf(options);
  const clock: Clock = { nowMs: START_MS };
  const server = undo.use(await startSellers(sellers, () => clock.nowMs));
  const day = () => utcDay(clock.nowMs) - utcDay(START_MS);
  const mood = (): IndexMood =>
    day() === BUSY_DAY ? 'busy' : day() === BROKEN_DAY ? 'broken' : 'well';
  const indexes = await startIndexes(listingsOf(sellers), mood);
  undo.defer(() => indexes.close());
  const instanceOptions = await prepare(options, sellers, {
    folder,
    port: server.port,
    indexUrl: indexes.url,
  });
  const run = new Run(options, instanceOptions, { clock, server, sellers });
  undo.defer(() => run.end());
  await run.play();
  const { scansFile } = instanceOptions;
  const scans = new Set((await readFile(scansFile, 'utf8')).split('\n').filter(Boolean));
  return { ...(await run.words()), sellers, scans, log: server.log, ...run.facts() };
}

async function prepare(
  { seed, origins, hours, realScans, storeUrl }: PlayOptions,
  sellers: readonly Seller[],
  { folder, port, indexUrl }: { folder: string; port: number; indexUrl: string },
): Promise<InstanceOptions> {
  const [listFile, scansFile] = [join(folder, 'listed.txt'), join(folder, 'scans.txt')];
  const listed = sellers.filter(({ sources }) => sources.has('file')).map(urlOf);
  await writeFile(listFile, ['# origins', ...listed].join('\n'));
  await writeFile(scansFile, '');
  return {
    size: { seed, origins, hours },
    storeUrl: storeUrl ?? `sqlite:${join(folder, 'scanner.db')}`,
    ...{ port, indexUrl, listFile, scansFile, realScans },
  };
}

type Parts = {
  readonly clock: Clock;
  readonly server: SellerServer;
  readonly sellers: readonly Seller[];
};

class Run {
  readonly #options: PlayOptions;
  readonly #instanceOptions: InstanceOptions;
  readonly #parts: Parts;
  readonly #outage: Played['outage'];
  readonly #kills: Kill[] = [];
  #instances: readonly Instance[] = [];
  readonly #left = new Map<string, { readonly logLength: number; readonly day: number }>();

  constructor(options: PlayOptions, instanceOptions: InstanceOptions, parts: Parts) {
    this.#options = options;
    this.#instanceOptions = instanceOptions;
    this.#parts = parts;
    const [from, to] = options.hours;
    const fromMs = Math.floor(START_MS / DAY_MS) * DAY_MS + OUTAGE_DAY * DAY_MS;
    const beginsMs = fromMs + (from + (to - from) * 0.3) * HOUR_MS;
    // Fifteen silent looks show an outage, so a small farm needs a longer one.
    const hours = Math.max(1, Math.ceil((MIN_OUTAGE_LOOKS * (to - from)) / options.origins));
    this.#outage = { fromMs: beginsMs, toMs: beginsMs + hours * HOUR_MS };
  }

  facts() {
    const { days } = this.#options;
    const start = { startMs: START_MS, firstDay: utcDay(START_MS) };
    return { kills: this.#kills, outage: this.#outage, ...start, days, left: this.#left };
  }

  async play(): Promise<void> {
    const { clock, server } = this.#parts;
    const { days, onDay, instances = 1 } = this.#options;
    server.hold = this.#holdLeavers();
    this.#instances = await Promise.all(
      Array.from({ length: instances }, () => Instance.start(this.#instanceOptions, clock)),
    );
    for (let day = 0; day < days; day += 1) {
      const endMs = (utcDay(START_MS) + day + 1) * DAY_MS;
      if (instances === 1 && day % KILL_EACH === KILL_EACH - 1) this.#planKill(day);
      await this.#passUntil(endMs);
      onDay?.(day, server.log.length);
    }
    // Sellers that were silent at the end of the last day get their word a minute later.
    await this.#passUntil((utcDay(START_MS) + days) * DAY_MS + STEP_MS);
  }

  async words(): Promise<Pick<Played, 'words' | 'records' | 'hosts' | 'wordCounts' | 'troubles'>> {
    const { days } = this.#options;
    const dayNumbers = Array.from({ length: days }, (_, day) => utcDay(START_MS) + day);
    const answers = await Promise.all(
      this.#instances.map((one) => one.ask({ kind: 'words', days: dayNumbers })),
    );
    const wordAnswers = answers.flatMap((answer) => (answer.kind === 'words' ? [answer] : []));
    const [first] = wordAnswers;
    if (first === undefined) throw new Error('an instance gave no words');
    const troubles = wordAnswers.flatMap((one) => one.troubles);
    return { ...first, wordCounts: wordAnswers.map(({ wordCount }) => wordCount), troubles };
  }

  async end(): Promise<void> {
    await Promise.all(this.#instances.map((one) => one.end()));
  }

  /** Holds the answer during which an owner leaves, until the wish is stored. A kill ends the wait. */
  #holdLeavers(): SellerServer['hold'] {
    const { server, sellers, clock } = this.#parts;
    const leavesAt = new Map(sellers.map((seller) => [seller.name, seller.leavesAt]));
    const counts = new Map<string, number>();
    return async ({ name }) => {
      const count = (counts.get(name) ?? 0) + 1;
      counts.set(name, count);
      const at = leavesAt.get(name) ?? null;
      const [instance] = this.#instances;
      if (at === null || count < at || this.#left.has(name) || instance === undefined) return;
      const { promise, resolve } = Promise.withResolvers<void>();
      const before = instance.onLeft;
      instance.onLeft = (host) => {
        before(host);
        if (host !== name) return;
        this.#left.set(name, { logLength: server.log.length, day: utcDay(clock.nowMs) });
        resolve();
      };
      instance.leave(name);
      await promise;
    };
  }

  /** Kills the instance in the middle of the day's looks, while a seller is being asked. */
  #planKill(day: number): void {
    const { server, clock } = this.#parts;
    const [from, to] = this.#options.hours;
    const part = 0.3 + diceOf(this.#options.seed + day).below(400) / 1_000;
    const fromMs = (utcDay(START_MS) + day) * DAY_MS + (from + (to - from) * part) * HOUR_MS;
    server.onRequest = () => {
      if (clock.nowMs < fromMs) return;
      server.onRequest = () => undefined;
      for (const instance of this.#instances) instance.kill();
    };
  }

  async #passUntil(endMs: number): Promise<void> {
    const { clock } = this.#parts;
    while (clock.nowMs < endMs) {
      try {
        const dueMs = await this.#step();
        const wantedMs = Math.max(clock.nowMs + SECOND_MS, Math.ceil(dueMs / STEP_MS) * STEP_MS);
        const { fromMs, toMs } = this.#outage;
        // The last looks of a day are due before it ends, and an outage begins and ends on time.
        const bounds = [endMs - 1, endMs, fromMs, toMs].filter((atMs) => atMs > clock.nowMs);
        clock.nowMs = Math.min(wantedMs, ...bounds);
      } catch (error) {
        if (!(error instanceof Killed)) throw error;
        await this.#startAgain();
      }
    }
  }

  /** Resolves to the time at which the next look is due. */
  async #step(): Promise<number> {
    const { clock } = this.#parts;
    const { fromMs, toMs } = this.#outage;
    const isOutage = clock.nowMs >= fromMs && clock.nowMs < toMs;
    const at = { kind: 'at', nowMs: clock.nowMs, isOutage } as const;
    await Promise.all(this.#instances.map((one) => one.ask(at)));
    const done = await Promise.all(this.#instances.map((one) => one.ask({ kind: 'tick' })));
    return Math.min(...done.map(dueOf));
  }

  async #startAgain(): Promise<void> {
    const { clock } = this.#parts;
    const [from, to] = this.#options.hours;
    const atMs = clock.nowMs;
    await this.end();
    clock.nowMs += ((to - from) / 12) * HOUR_MS;
    const day = utcDay(atMs);
    this.#kills.push({ day, atMs, againMs: clock.nowMs, realMs: performance.now() });
    this.#instances = [await Instance.start(this.#instanceOptions, clock)];
  }
}

function dueOf(answer: FromInstance): number {
  return answer.kind === 'done' ? (answer.dueMs ?? Number.POSITIVE_INFINITY) : 0;
}
