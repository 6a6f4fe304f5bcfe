/** Servers that play x402scan, the Bazaar and the partner listing, which know one seller. */
import type { SourceOptions } from '../../../src/scanner/indexes/source-options.ts';
import { isSameAddress } from '../../../src/scanner/parse/x402/namespaces.ts';
import {
  bazaarItem,
  merchant,
  originRow,
  PAY_TO,
  page,
  resourceRow,
  sellerByAddress,
  sellerOfOrigin,
  trpc,
  verification,
} from './recorded-answers.ts';
import { type StandIn, type StandInAnswer, startStandIn } from './stand-in.ts';

/** Answers of the sources by the last part of the requested path. Tests replace single answers. */
export type AnswersByName = Record<string, () => StandInAnswer | Promise<StandInAnswer>>;

/** x402scan and the partner listing know the origin, and x402scan knows its payee. */
export function answersKnowing(originUrl: string): AnswersByName {
  const row = originRow(originUrl, [resourceRow(`${originUrl}/paid`)]);
  return {
    'public.origins.search': () => ({ json: trpc([row]) }),
    'public.resources.verificationStatus': () => ({ json: verification(1, 1) }),
    'public.sellers.bazaar.list': () => ({ json: page([sellerOfOrigin(originUrl)]) }),
    'public.sellers.all.list': () => ({ json: page([sellerByAddress(PAY_TO)]) }),
    ecosystem: () => ({ json: [{ name: 'Weather', websiteUrl: originUrl }] }),
  };
}

export function startSources(readAnswers: () => AnswersByName): Promise<StandIn> {
  return startStandIn(async ({ pathname }) => {
    const name = pathname.split('/').at(-1) ?? '';
    return (await readAnswers()[name]?.()) ?? { status: 404, json: 'nothing here' };
  });
}

/** The last part of each requested path, for example the procedure of x402scan, oldest first. */
export function listRequests({ requestedPaths, url }: StandIn): readonly string[] {
  return requestedPaths.map((path) => new URL(path, url).pathname.split('/').at(-1) ?? '');
}

/** Settings by which all sources are this one server. */
export function sourcesAt({ url }: StandIn, overrides: Partial<SourceOptions> = {}): SourceOptions {
  return {
    ...{ x402scanUrl: url, bazaarUrl: url, ecosystemUrl: url, rpcUrl: null },
    ...{ asset: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913', network: 'eip155:8453' },
    userAgent: 'test',
    ...overrides,
  };
}

export async function startSourcesKnowing(originUrl: string, payTo: string): Promise<StandIn> {
  const yesterday = new Date(Date.now() - 86_400_000).toISOString();
  const lastPaid = { latest_block_timestamp: yesterday };
  const quality = { l30DaysTotalCalls: 30, l30DaysUniquePayers: 6, lastCalledAt: yesterday };
  return startStandIn(({ pathname, searchParams }) => {
    const { json: input } = JSON.parse(searchParams.get('input') ?? '{}');
    switch (pathname) {
      case '/api/trpc/public.origins.search': {
        const { host } = new URL(originUrl);
        // x402scan searches by substring, so it also returns an origin that contains this one.
        const rows = [
          originRow(`http://other.${host}`, [], { id: 'other' }),
          originRow(originUrl, [
            resourceRow(`${originUrl}/weather`, { lastUpdated: yesterday, method: 'GET' }),
          ]),
        ];
        return { json: trpc(input.search === host ? rows : []) };
      }
      case '/api/trpc/public.resources.verificationStatus':
        return { json: verification(1, 1) };
      case '/api/trpc/public.sellers.bazaar.list':
        return { json: page([sellerOfOrigin(originUrl, lastPaid)]) };
      case '/api/trpc/public.sellers.all.list':
        return { json: page([sellerByAddress(payTo, lastPaid)]) };
      case '/platform/v2/x402/discovery/merchant': {
        const isOwn = isSameAddress(searchParams.get('payTo') ?? '', payTo);
        return { json: merchant(isOwn ? [bazaarItem(quality, payTo)] : []) };
      }
      case '/ecosystem':
        return { json: [{ name: 'Weather', websiteUrl: originUrl }] };
      default:
        return { status: 404, json: {} };
    }
  });
}
