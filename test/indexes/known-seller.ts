/** A server that plays x402scan, the Bazaar and the partner listing. All three know one seller. */
import { isSameAddress } from '../../src/parse/x402/namespaces.ts';
import {
  bazaarItem,
  merchant,
  originRow,
  page,
  resourceRow,
  sellerByAddress,
  sellerOfOrigin,
  trpc,
  verification,
} from './recorded-answers.ts';
import { type StandIn, startStandIn } from './stand-in.ts';

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
