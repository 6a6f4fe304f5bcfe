import { parse } from 'tldts';
import type { Origin } from '../guard/origin.ts';
import type { IndexedOrigin, ListingFacts, Lookup, OfferOnChain } from '../model/observations.ts';
import type { ChainOffer, Standing } from '../model/standing.ts';
import { createAnswerReader } from '../third-parties/answer-reader.ts';
import {
  askNode,
  askOk,
  type IndexAnswer,
  LOOKUP_TIMEOUT_MS,
  type RequestContext,
  startDeadline,
  toFailure,
  toIndexParser,
  toNodeFault,
} from './ask.ts';
import { askBazaarListings, createMerchantCache, lookUpListings } from './bazaar.ts';
import {
  isBazaarListings,
  isIndexRow,
  isOffersOnChain,
  isPartners,
  isVerifiedFlag,
  type Partner,
} from './index-answers.ts';
import type { EcosystemOptions } from './options.ts';
import {
  createResponseCache,
  type Question,
  type ResponseCache,
  type SnapshotCache,
} from './response-cache.ts';
import { listSettlementSources, lookUpSettlements } from './settlements.ts';
import { askX402scanOrigin, askX402scanVerified } from './x402scan.ts';

type OnChain = readonly OfferOnChain[];

export type RefreshingStanding = Required<Omit<Standing, 'isOff' | 'onChain'>> &
  Pick<Standing, 'onChain'> & {
    /** Refreshes the cached list of partners if it is older than half a day. Never rejects. */
    refreshListing(): Promise<Lookup<readonly Partner[]>>;
  };

const LISTING_CACHE_MS = 24 * 3_600_000;
const SWITCHED_OFF = { state: 'off', why: 'switched-off' } as const;

/** `timeoutMs` limits each lookup of a scan, with all its sources and retries. */
export function createStanding(
  options: EcosystemOptions,
  snapshots: SnapshotCache,
  timeoutMs = LOOKUP_TIMEOUT_MS,
  findReasonNotToAsk?: RequestContext['findReasonNotToAsk'],
): RefreshingStanding {
  const { x402scanUrl, bazaarUrl, ecosystemUrl, rpcUrl, chainTurn } = options;
  const { userAgent, solanaRpcUrl = null, answers = createAnswerReader() } = options;
  const shared = { userAgent, answers, findReasonNotToAsk };
  const cache = createResponseCache(snapshots);
  const askMerchant = createMerchantCache(() => snapshots.now());
  const sources = listSettlementSources(options, askMerchant);
  const startContext = (): RequestContext => ({ deadline: startDeadline(timeoutMs), ...shared });

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

  /** Ignores errors, because no check judges nodes' answers: they only become advice. */
  async function onChain(offers: readonly ChainOffer[]): Promise<readonly OfferOnChain[]> {
    const context = startContext();
    const select = (prefix: string) => offers.filter(({ network }) => network.startsWith(prefix));
    const [evm, solana] = [select('eip155:'), select('solana:')];
    const lookup = (source: string, asked: typeof offers, ask: Question<OnChain>['ask']) => {
      const key = `offers ${JSON.stringify(asked)}`;
      return cache.lookup({ source, key, isAnswer: isOffersOnChain, ask });
    };
    const lookups = await Promise.all([
      rpcUrl === null || evm.length === 0
        ? null
        : lookup('chain', evm, async () => {
            // Loaded only if there is a node, because it loads the chain packages.
            const { checkOffersOnEvm } = await import('./evm-node.ts');
            return checkOffersOnEvm({ rpcUrl, chainTurn }, evm, context);
          }),
      solanaRpcUrl === null || solana.length === 0
        ? null
        : lookup('Solana', solana, () => checkOffersOnSolana(solanaRpcUrl, solana, context)),
    ]);
    return lookups.flatMap((lookup) => (lookup?.state === 'seen' ? lookup.data : []));
  }

  return {
    origin: async (origin) => {
      const context = startContext();
      const [x402scan, partnerLookup] = await Promise.all([
        x402scanUrl === null ? SWITCHED_OFF : lookUpOrigin(origin, x402scanUrl, cache, context),
        lookUpPartners(LISTING_CACHE_MS, context),
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
              ask: () => askBazaarListings(bazaarUrl, address, startContext(), askMerchant),
            }),
          ),
    ...(rpcUrl === null && solanaRpcUrl === null ? {} : { onChain }),
    refreshListing: () => lookUpPartners(LISTING_CACHE_MS / 2, startContext()),
  };
}

/** Sends up to two dependent requests within one deadline. */
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
  const { id, ...found } = row.data;
  if (id === null) return { ...row, data: { ...found, ownershipVerified: null } };
  const verified = await cache.lookup({
    source,
    key: `${base} verified ${id}`,
    isAnswer: isVerifiedFlag,
    ask: () => askX402scanVerified(base, id, context),
  });
  const ownershipVerified = verified.state === 'seen' ? verified.data : null;
  return { ...row, data: { ...found, ownershipVerified } };
}

const LISTING_PATH = '/ecosystem';

/** Reads the public list of partners at x402.org, which has taken no new partners since 2026-05-14. */
export async function askPartners(
  base: string,
  context: RequestContext,
): Promise<IndexAnswer<readonly Partner[]>> {
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

/** CAIP-2 names a Solana network by this many characters of its genesis hash. */
const REFERENCE_CHARS = 32;
const EMPTY_SLICE = { offset: 0, length: 0 };

/**
 * Checks that recipients have a token account, without which transfers fail. Ignores offers on other networks. It is not
 * in evm-node.ts, which loads viem.
 */
export async function checkOffersOnSolana(
  rpcUrl: string,
  offers: readonly ChainOffer[],
  context: RequestContext,
): Promise<IndexAnswer<readonly OfferOnChain[]>> {
  const genesis = await callNode(rpcUrl, 'getGenesisHash', [], context);
  if (!genesis.ok) return genesis;
  if (typeof genesis.value !== 'string') return toNodeFault(rpcUrl);
  const network = `solana:${genesis.value.slice(0, REFERENCE_CHARS)}`;
  const readings: OfferOnChain[] = [];
  for (const { asset, payTo, ...offer } of offers) {
    if (offer.network !== network) continue;
    const params = [payTo, { mint: asset }, { encoding: 'base64', dataSlice: EMPTY_SLICE }];
    const accounts = await callNode(rpcUrl, 'getTokenAccountsByOwner', params, context);
    if (!accounts.ok) return accounts;
    if (typeof accounts.value !== 'number') return toNodeFault(rpcUrl);
    const noTokenAccount = accounts.value === 0;
    const otherFacts = { hasCode: true, domain: null, transferReverts: null };
    readings.push({ network, asset, payTo, noTokenAccount, ...otherFacts });
  }
  return { ok: true, value: readings };
}

async function callNode(
  rpcUrl: string,
  method: string,
  params: readonly unknown[],
  context: RequestContext,
): Promise<IndexAnswer<unknown>> {
  const reply = await askNode(rpcUrl, method, params, context);
  if (!reply.ok) return reply;
  const { value } = reply.value;
  return value === null || 'error' in value
    ? toNodeFault(rpcUrl)
    : { ok: true, value: value.result };
}
