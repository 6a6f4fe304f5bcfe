import { parse } from 'tldts';
import type { Origin } from '../guard/origin.ts';
import type { IndexedOrigin, ListingFacts, Lookup, OfferOnChain } from '../model/observations.ts';
import type { ChainOffer, Standing } from '../model/standing.ts';
import { createAnswerReader } from '../third-parties/answer-reader.ts';
import {
  askOk,
  LOOKUP_TIMEOUT_MS,
  mapAnswer,
  type RequestContext,
  type SourceAnswer,
  startDeadline,
  toFailure,
} from './ask.ts';
import { lookUpListings, shareMerchantAnswers, toListings } from './bazaar.ts';
import {
  isBazaarListings,
  isIndexRow,
  isOffersOnChain,
  isPartners,
  isVerifiedFlag,
  type Partner,
  toIndexParser,
} from './index-answers.ts';
import {
  createResponseCache,
  type Question,
  type ResponseCache,
  type SnapshotCache,
} from './response-cache.ts';
import { listSettlementSources, lookUpSettlements } from './settlements.ts';
import { checkOffersOnSolana } from './solana-node.ts';
import type { SourceOptions } from './source-options.ts';
import { askX402scanOrigin, askX402scanVerified } from './x402scan.ts';

type OnChain = readonly OfferOnChain[];

export type RefreshingStanding = Standing &
  Required<Pick<Standing, 'listings'>> & {
    /** Refreshes the cached list of partners if half of its time in the cache is over. Never rejects. */
    refreshPartners(): Promise<Lookup<readonly Partner[]>>;
  };

/** x402.org's list of partners hardly changes. */
const PARTNERS_CACHE_MS = 24 * 3_600_000;
const SWITCHED_OFF = { state: 'off', why: 'switched-off' } as const;

/** `timeoutMs` limits each lookup of a scan, with all its sources and retries. */
export function createStanding(
  options: SourceOptions,
  snapshots: SnapshotCache,
  timeoutMs = LOOKUP_TIMEOUT_MS,
  findReasonNotToAsk?: RequestContext['findReasonNotToAsk'],
): RefreshingStanding {
  const { x402scanUrl, bazaarUrl, ecosystemUrl, rpcUrl, solanaRpcUrl = null } = options;
  const { userAgent, answers = createAnswerReader() } = options;
  const hasNode = rpcUrl !== null || solanaRpcUrl !== null;
  const cache = createResponseCache(snapshots);
  const askMerchant = shareMerchantAnswers(() => snapshots.now());
  const sources = listSettlementSources(options, askMerchant);
  const shared = { userAgent, answers, findReasonNotToAsk };
  const startContext = (): RequestContext => ({ ...shared, deadline: startDeadline(timeoutMs) });

  async function lookUpPartners(
    cacheMs: number,
    context: RequestContext,
  ): Promise<Lookup<readonly Partner[]>> {
    if (ecosystemUrl === null) return SWITCHED_OFF;
    return cache.lookup({
      source: 'x402.org listing',
      key: ecosystemUrl,
      cacheMs,
      isAnswer: isPartners,
      ask: () => askPartners(ecosystemUrl, context),
    });
  }

  return {
    origin: async (origin) => {
      const context = startContext();
      const [x402scan, partnerLookup] = await Promise.all([
        x402scanUrl === null ? SWITCHED_OFF : lookUpOrigin(origin, x402scanUrl, cache, context),
        lookUpPartners(PARTNERS_CACHE_MS, context),
      ]);
      if (partnerLookup.state !== 'seen') return { x402scan, listing: partnerLookup };
      const data = findPartner(origin, partnerLookup.data);
      return { x402scan, listing: { ...partnerLookup, data } };
    },
    settlements: (origin, payees) =>
      lookUpSettlements(sources, origin, payees, cache, startContext()),
    listings: async (payees) =>
      bazaarUrl === null
        ? SWITCHED_OFF
        : lookUpListings(payees, ({ address }) =>
            cache.lookup({
              source: 'Bazaar',
              key: `${bazaarUrl} listings of ${address}`,
              isAnswer: isBazaarListings,
              ask: async () =>
                mapAnswer(await askMerchant(bazaarUrl, address, startContext()), toListings),
            }),
          ),
    ...(hasNode && {
      onChain: (offers) => lookUpOnChain(offers, options, cache, startContext()),
    }),
    refreshPartners: () => lookUpPartners(PARTNERS_CACHE_MS / 2, startContext()),
  };
}

/** Finds the origin's row, then whether its recipients have signed for it (null if not known), within one deadline. */
async function lookUpOrigin(
  origin: Origin,
  base: string,
  cache: ResponseCache,
  context: RequestContext,
): Promise<Lookup<IndexedOrigin>> {
  const source = 'x402scan';
  const row = await cache.lookup({
    source,
    key: `${base} origin ${origin.url}`,
    isAnswer: isIndexRow,
    ask: () => askX402scanOrigin(base, origin, context),
  });
  if (row.state !== 'seen') return row;
  const { id, ...facts } = row.data;
  if (id === null) return { ...row, data: { ...facts, ownershipVerified: null } };
  const verified = await cache.lookup({
    source,
    key: `${base} verified ${id}`,
    isAnswer: isVerifiedFlag,
    ask: () => askX402scanVerified(base, id, context),
  });
  const ownershipVerified = verified.state === 'seen' ? verified.data : null;
  return { ...row, data: { ...facts, ownershipVerified } };
}

/** Ignores failed lookups. No check judges the facts of a node, which only become advice. */
async function lookUpOnChain(
  offers: readonly ChainOffer[],
  { rpcUrl, solanaRpcUrl = null, chainTurn }: SourceOptions,
  cache: ResponseCache,
  context: RequestContext,
): Promise<OnChain> {
  const select = (prefix: string) => offers.filter(({ network }) => network.startsWith(prefix));
  const [evm, solana] = [select('eip155:'), select('solana:')];
  const lookup = (source: string, subset: typeof offers, ask: Question<OnChain>['ask']) => {
    const key = `offers ${JSON.stringify(subset)}`;
    return cache.lookup({ source, key, isAnswer: isOffersOnChain, ask });
  };
  const lookups = await Promise.all([
    rpcUrl === null || evm.length === 0
      ? null
      : lookup('chain', evm, async () => {
          // Imported at the first lookup, because it loads viem.
          const { checkOffersOnEvm } = await import('./evm-node.ts');
          return checkOffersOnEvm({ rpcUrl, chainTurn }, evm, context);
        }),
    solanaRpcUrl === null || solana.length === 0
      ? null
      : lookup('Solana', solana, () => checkOffersOnSolana(solanaRpcUrl, solana, context)),
  ]);
  return lookups.flatMap((result) => (result?.state === 'seen' ? result.data : []));
}

/** The public list of partners at x402.org, which has taken no new partners since 2026-05-14. */
const LISTING_PATH = '/ecosystem';

/** `base` is the URL of the site, or of the page or document that has the list. */
export async function askPartners(
  base: string,
  context: RequestContext,
): Promise<SourceAnswer<readonly Partner[]>> {
  const url = new URL(base).pathname === '/' ? new URL(LISTING_PATH, base).href : base;
  const parser = toIndexParser('readPartners');
  const page = await askOk(url, { ...context, parser, detail: null });
  // If the answer has no partner, the format of the page has changed.
  return page.ok && page.value.length === 0
    ? toFailure(`${new URL(base).host} shows no partner records`)
    : page;
}

/** Finds the origin's partner record by registrable domain. */
export function findPartner(origin: Origin, partners: readonly Partner[]): ListingFacts {
  const ownSite = toSite(origin.hostname);
  const partner = partners.find(
    ({ website }) => URL.canParse(website) && toSite(new URL(website).hostname) === ownSite,
  );
  return {
    listed: partner !== undefined,
    name: partner?.name ?? null,
    website: partner?.website ?? null,
  };
}

/** Returns the registrable domain; the whole name on shared suffixes such as "vercel.app", whose tenants are unrelated. */
function toSite(hostname: string): string {
  const bare = hostname.replace(/^\[|\]$/g, '');
  const { domain, isPrivate } = parse(bare, { allowPrivateDomains: true });
  return isPrivate === true ? bare : (domain ?? bare);
}
