/** The third parties behind the standing checks, as the prober asks them. */
import type { Origin } from '../origin/origin.ts';
import type { IndexedOrigin, ListingFacts, Look, SettlementFacts } from '../probe/observations.ts';
import type { Payee, Standing } from '../probe/standing.ts';
import { type AnswerShelf, createAnswerShelf, type SnapshotShelf } from './answer-shelf.ts';
import { askPartners, type Partner } from './ecosystem-listing.ts';
import { partnerOf } from './partner-of.ts';
import { settlementSources } from './settlement-sources.ts';
import { x402scanOrigin } from './x402scan.ts';

export type EcosystemSettings = {
  /** Null switches a source off. */
  readonly x402scanUrl: string | null;
  readonly bazaarUrl: string | null;
  readonly ecosystemUrl: string | null;
  readonly rpcUrl: string | null;
  /** What settlements in logs are paid in, by address, and on which network (CAIP-2). */
  readonly asset: string;
  readonly network: string;
};

export type RefreshingStanding = Standing & {
  /** Asks for the listing anew, so that scans find it there. Never rejects. */
  refreshListing(): Promise<Look<readonly Partner[]>>;
};

const HOUR_MS = 3_600_000;
const ORIGIN_CACHE_MS = HOUR_MS;
const SETTLEMENTS_CACHE_MS = HOUR_MS;
export const LISTING_CACHE_MS = 24 * HOUR_MS;
const SWITCHED_OFF = { state: 'off', why: 'switched-off' } as const;

export function createStanding(
  settings: EcosystemSettings,
  snapshots: SnapshotShelf,
): RefreshingStanding {
  const shelf = createAnswerShelf(snapshots);
  const partners = (cacheMs: number): Promise<Look<readonly Partner[]>> => {
    const { ecosystemUrl } = settings;
    if (ecosystemUrl === null) return Promise.resolve(SWITCHED_OFF);
    return shelf.look({
      source: 'x402.org listing',
      key: ecosystemUrl,
      cacheMs,
      ask: () => askPartners(ecosystemUrl),
    });
  };
  return {
    origin: async (origin) => {
      const [x402scan, listed] = await Promise.all([
        indexed(origin, settings.x402scanUrl, shelf),
        partners(LISTING_CACHE_MS),
      ]);
      return { x402scan, listing: listing(origin, listed) };
    },
    settlements: (origin, payees) => settlements(origin, payees, settings, shelf),
    refreshListing: () => partners(LISTING_CACHE_MS / 2),
  };
}

async function indexed(
  origin: Origin,
  base: string | null,
  shelf: AnswerShelf,
): Promise<Look<IndexedOrigin>> {
  if (base === null) return SWITCHED_OFF;
  return shelf.look({
    source: 'x402scan',
    key: `${base} origin ${origin.url}`,
    cacheMs: ORIGIN_CACHE_MS,
    ask: () => x402scanOrigin(base, origin),
  });
}

function listing(origin: Origin, look: Look<readonly Partner[]>): Look<ListingFacts> {
  return look.state === 'seen' ? { ...look, data: partnerOf(origin, look.data) } : look;
}

/**
 * All sources beside each other, so that a slow one costs its own time limit and no more. The first
 * in order that saw a settlement wins; otherwise the first that answered; otherwise what failed.
 */
async function settlements(
  origin: Origin,
  payees: readonly Payee[],
  settings: EcosystemSettings,
  shelf: AnswerShelf,
): Promise<Look<SettlementFacts>> {
  const sources = settlementSources(settings);
  if (sources.length === 0) return SWITCHED_OFF;
  const recipients = payees.map(({ network, address }) => `${network} ${address}`).join(', ');
  const looks: readonly Look<SettlementFacts>[] = await Promise.all(
    sources.map((source) =>
      shelf.look<SettlementFacts>({
        source: source.name,
        key: `settlements ${source.question} ${origin.url} ${recipients}`,
        cacheMs: SETTLEMENTS_CACHE_MS,
        ask: async () => (await source.ask(origin, payees)) ?? noRecipient(source.name),
      }),
    ),
  );
  const seen = looks.filter((look) => look.state === 'seen');
  const active = seen.find((look) => look.data.settlements > 0 || look.data.lastAt !== null);
  return active ?? seen[0] ?? failure(looks);
}

function noRecipient(name: string): { readonly ok: false; readonly detail: string } {
  return { ok: false, detail: `${name} is asked by recipient, and none is known` };
}

function failure(looks: readonly Look<SettlementFacts>[]): Look<SettlementFacts> {
  const failed = looks.filter((look) => look.state === 'failed');
  return {
    state: 'failed',
    source: [...new Set(failed.map((look) => look.source))].join(', '),
    detail: failed.map((look) => look.detail).join('; '),
  };
}
