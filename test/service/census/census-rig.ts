/** The census over the embedded store; the test moves the clock, and says what origins answer. */

import type { Address } from '../../../src/scanner/guard/name-servers.ts';
import { DEFAULT_POLICY, parseOrigin } from '../../../src/scanner/guard/origin.ts';
import type { HttpObservation, Observations } from '../../../src/scanner/model/observations.ts';
import type { DayWord } from '../../../src/scanner/model/payability.ts';
import type { CensusResource } from '../../../src/scanner/scan/scanner.ts';
import type {
  AskListed,
  AskListedRequest,
  AskListedResult,
} from '../../../src/service/census/ask-listed.ts';
import { Census } from '../../../src/service/census/census.ts';
import { Wishes } from '../../../src/service/census/choose-origins.ts';
import {
  createKeyedHash,
  lookTimeMs as keyedLookTimeMs,
} from '../../../src/service/census/plan.ts';
import type { PostMode } from '../../../src/service/census/resources.ts';
import { ScanCoordinator } from '../../../src/service/scans/scan-coordinator.ts';
import { MEMORY, openSqlite } from '../../../src/service/store/sqlite/store.ts';
import { utcDay } from '../../../src/service/store/statistics.ts';
import type { Store } from '../../../src/service/store/store.ts';
import { createOriginTurns } from '../../../src/service/turns/origin-turns.ts';
import { perfectSeller, resources } from '../../fixtures/observations/build-observations.ts';
import { createFakeScanner } from '../../scanner/scan/fake-scanner.ts';
import { openFakeClient } from '../turns/turn-clients.ts';

/** The store's secret decides the time of each look, so a test can compute this time. */
export const SECRET = 'the secret of a test';
export const keyedHash = createKeyedHash(SECRET);

export function lookTimeMs(host: string, day: number): number {
  return keyedLookTimeMs(keyedHash, host, day);
}

export const DAY_MS = 86_400_000;
export const HOUR_MS = 3_600_000;
export const START_MS = Date.UTC(2026, 8, 1);
export const WEATHER: CensusResource = { method: 'GET', path: '/weather' };

export const PAYABLE = { status: 402, reason: null, payableBy: 'default' } as const;
export const GONE = { status: 404, reason: null, payableBy: null } as const;
export const SILENT = { status: null, reason: 'timeout', payableBy: null } as const;

/** Observations of a seller that default clients can pay. */
export const PAYABLE_SELLER: Observations = {
  ...perfectSeller(),
  payability: {
    clients: [],
    resources: [{ ...WEATHER, payableBy: 'default', words: null, offers: [] }],
    silent: [],
  },
};

/** Observations of an origin that answered no request. */
export function unreachedSeller(failed: HttpObservation): Observations {
  const seller = perfectSeller();
  const answers = Object.entries(seller).flatMap(([name, value]) =>
    typeof value === 'object' && value !== null && 'ok' in value ? [[name, failed]] : [],
  );
  return {
    ...seller,
    ...Object.fromEntries(answers),
    openapiAlternates: [],
    resources: resources([]),
  };
}

export type AskedHost = {
  readonly host: string;
  readonly atMs: number;
  readonly question: AskListedRequest;
};

export type ListOptions = {
  readonly domain?: string;
  readonly resources?: readonly CensusResource[];
  /** True: the next look is a weekly scan. */
  readonly isScanDue?: boolean;
  readonly lastDay?: number;
};

export function startCensus(
  storePath = MEMORY,
  startMs = START_MS,
  excludePath: string | null = null,
) {
  const clock = { nowMs: startMs };
  const now = () => clock.nowMs;
  const store: Store = openSqlite(storePath, { clock: now });
  // The embedded store answers before the first look reads the secret.
  void store.census.readSecret(SECRET);
  const scanner = createFakeScanner();
  const scanCoordinator = new ScanCoordinator({ scanner, store, catalogFacts: {} });
  const troubles: string[] = [];
  const asked: AskedHost[] = [];
  const words: DayWord[] = [];
  const addresses = new Map<string, Address>();
  const running = new Set<string>();

  function addressOf(host: string): Address {
    const n = Number(/\d+/.exec(host)?.[0] ?? 0);
    return addresses.get(host) ?? { address: `203.0.${n % 250}.1`, family: 4 };
  }

  const askListed: AskListed = async ({ host }, question, client) => {
    await client.admit();
    asked.push({ host, atMs: clock.nowMs, question });
    running.add(host);
    rig.mostAtOnce = Math.max(rig.mostAtOnce, running.size);
    await rig.during(host);
    await rig.between(() => client.admit(), host);
    running.delete(host);
    const allowed = Object.fromEntries(question.robotsPaths.map((path) => [path, true]));
    const answer = { signs: [], allowed, isRobotsSilent: false, restMs: null };
    // A scan reads robots.txt only.
    if (question.resources.length === 0) return { ...answer, ...rig.robots(host) };
    const signs = question.resources.map((resource) => ({ ...PAYABLE, resource }));
    return { ...answer, signs, ...rig.answer(host) };
  };

  function addInstance(): Census {
    return new Census({
      ...{ store, scanCoordinator, scanner, askListed, wishes: newWishes() },
      post: rig.post,
      onPostUndeclared: () => rig.onPostUndeclared(),
      isNetworkUp: () => rig.isNetworkUp(),
      policy: DEFAULT_POLICY,
      turns: createOriginTurns({
        now,
        countPaidScans: () => scanCoordinator.countPaidScans(),
        wait: (ms) => rig.wait(ms),
        openClient: openFakeClient({ addressOf }),
      }),
      onError: (message, error) => void troubles.push(`${message}: ${error}`),
      onWord: (word) => words.push(word),
    });
  }

  const newWishes = () =>
    new Wishes({
      ...{ store, policy: DEFAULT_POLICY, excludePath },
      onError: (message, error) => void troubles.push(`${message}: ${error}`),
    });

  let census: Census | null = null;
  const rig = {
    ...{ clock, store, scanner, scanCoordinator, asked, words, troubles, addresses, running },
    get census() {
      census ??= addInstance();
      return census;
    },
    post: 'declared' as PostMode,
    onPostUndeclared: (): void => undefined,
    newWishes,
    /** Returns false if indexes and our own site give no answer. */
    isNetworkUp: async (): Promise<boolean> => true,
    addInstance,
    mostAtOnce: 0,
    /** Waits for a turn by moving the clock. */
    wait: async (ms: number): Promise<void> => {
      clock.nowMs += ms;
    },
    answer: (_host: string): Partial<AskListedResult> => ({}),
    robots: (_host: string): Partial<AskListedResult> => ({}),
    during: async (_host: string): Promise<void> => undefined,
    /** Called after the first request. That turn ends when the next request waits for its own turn. */
    between: async (_admit: () => Promise<void>, _host: string): Promise<void> => undefined,

    today: () => utcDay(clock.nowMs),
    word: (host: string, day = utcDay(clock.nowMs)) => store.census.findWord(host, day),
    askedHosts: () => asked.map(({ host }) => host),

    async list(host: string, options: ListOptions = {}): Promise<void> {
      const day = utcDay(clock.nowMs);
      const {
        domain = host,
        resources = [WEATHER],
        isScanDue = false,
        lastDay = day + 90,
      } = options;
      const named = resources.map((one) => ({ ...one, sources: ['bazaar'] }));
      const todayMs = lookTimeMs(host, day);
      await store.census.saveImported({
        host,
        originUrl: `https://${host}`,
        domain,
        listing: { sources: { bazaar: day }, resources: named, bazaar: [] },
        firstDay: isScanDue ? day - 7 : day,
        lastDay,
        isChosen: true,
        lookAtMs: todayMs > clock.nowMs ? todayMs : lookTimeMs(host, day + 1),
      });
      scanner.will(host, { observations: PAYABLE_SELLER });
      if (!isScanDue) await store.census.change(host, { scannedDay: day + 90 });
    },

    /** Begins the looks that are due, and waits for their end. */
    async settle(): Promise<void> {
      await rig.census.rounds.tick();
      await rig.census.rounds.idle();
    },

    /** Moves the clock to the time of a host's look on a day, and makes the looks that are due. */
    async passTo(host: string, day = utcDay(clock.nowMs)): Promise<void> {
      clock.nowMs = Math.max(clock.nowMs, lookTimeMs(host, day));
      await rig.settle();
    },

    /** Moves the clock from look to look until `endMs`, and makes each look. */
    async passUntil(endMs: number): Promise<void> {
      while (clock.nowMs < endMs) {
        const dueMs = (await store.census.findFirstDueMs()) ?? endMs;
        clock.nowMs = Math.min(endMs, Math.max(clock.nowMs + 1_000, dueMs));
        await rig.settle();
      }
    },

    passDays: (days: number) => rig.passUntil(clock.nowMs + days * DAY_MS),

    /** Scans a host, and publishes the scan if a payer paid for it. */
    async scan(host: string, paid: boolean): Promise<void> {
      const finished = await scanCoordinator.run(parseOrigin(host), { isFree: !paid });
      if (paid) await scanCoordinator.publish(finished.scanId);
    },
  };
  return rig;
}

/** Returns names of hosts whose looks begin between two hours of the day. */
export function hostsBetween(fromHour: number, toHour: number, count: number): readonly string[] {
  const hosts: string[] = [];
  for (let n = 0; hosts.length < count; n += 1) {
    const host = `shop-${n}.com`;
    const hour = lookTimeMs(host, 0) / HOUR_MS;
    if (hour >= fromHour && hour < toHour) hosts.push(host);
  }
  return hosts;
}

/** A host whose look begins in the middle of a day. */
export const [NOON_HOST = ''] = hostsBetween(11, 13, 1);
