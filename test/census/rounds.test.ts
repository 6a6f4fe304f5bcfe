/** The census on a moved clock, over the embedded store, with answers that the test gives. */
import { expect, test } from 'vitest';
import type { ListedAnswer } from '../../src/census/ask-listed.ts';
import { createCensus } from '../../src/census/census.ts';
import { lookTimeMs } from '../../src/census/plan.ts';
import { DEFAULT_POLICY } from '../../src/guard/origin.ts';
import { createOriginTurns } from '../../src/limits/origin-turns.ts';
import { createScanCoordinator } from '../../src/scan/scan-coordinator.ts';
import { MEMORY, openSqlite } from '../../src/store/sqlite/store.ts';
import { utcDay } from '../../src/store/statistics.ts';
import { createFakeScanner } from '../scan/fake-scanner.ts';

const DAY_MS = 86_400_000;
const START_MS = Date.UTC(2026, 8, 1);
const PAYABLE = { status: 402, reason: null, payableBy: 'default' } as const;
const SILENT = { status: null, reason: 'timeout', payableBy: null } as const;

function startCensus() {
  let nowMs = START_MS;
  const store = openSqlite(MEMORY, { clock: () => nowMs });
  const scanner = createFakeScanner();
  const scanCoordinator = createScanCoordinator({ scanner, store, catalogFacts: {} });
  const asked: string[] = [];
  const world = {
    store,
    asked,
    scanner,
    answer: (_host: string): ListedAnswer['signs'] => [PAYABLE],
    now: () => nowMs,
    move: (toMs: number) => {
      nowMs = toMs;
    },
    census: createCensus({
      store,
      policy: DEFAULT_POLICY,
      scanCoordinator,
      scanner,
      resolve: async ({ host }) => ({
        kind: 'addresses',
        addresses: [{ address: `198.51.${host.length % 200}.${host.charCodeAt(5) % 250}`, family: 4 }],
      }),
      askListed: async ({ host }, _question, admit) => {
        const n = Number(/\d+/.exec(host)?.[0] ?? 0);
        if (!(await admit([{ address: `203.0.${n % 250}.1`, family: 4 }]))) throw new Error('no turn');
        asked.push(host);
        return { signs: world.answer(host), allowed: { '/weather': true }, restMs: null, handshakeMs: 0 };
      },
      turns: createOriginTurns({
        now: () => nowMs,
        runningScans: () => scanCoordinator.running(),
        wait: async (ms) => {
          nowMs += ms;
        },
      }),
      onError: (message, error) => {
        throw new Error(message, { cause: error });
      },
    }),
    async list(host: string) {
      const day = utcDay(nowMs);
      const resources = [{ method: 'GET', path: '/weather', source: 'bazaar' }];
      await store.census.list({
        host,
        originUrl: `https://${host}`,
        domain: host,
        listing: { sources: { bazaar: day }, resources, bazaar: [] },
        firstDay: day,
        lastDay: day + 60,
        isChosen: true,
        lookAtMs: lookTimeMs(host, day),
      });
    },
    async passDays(days: number) {
      const endMs = nowMs + days * DAY_MS;
      while (nowMs < endMs) {
        const nextMs = await store.census.firstDueMs();
        nowMs = Math.min(endMs, Math.max(nowMs + 1_000, nextMs ?? endMs));
        await world.census.tick();
        await world.census.idle();
      }
    },
  };
  return world;
}

test('a week gives each host a word a day, one of them by a scan', async () => {
  const world = startCensus();
  const hosts = Array.from({ length: 30 }, (_, n) => `shop-${n}.com`);
  for (const host of hosts) await world.list(host);
  await world.passDays(8);
  for (const host of hosts) {
    const row = await world.store.census.get(host);
    console.log(host, row?.letters, row?.word);
  }
  console.log(world.asked.length);
});
