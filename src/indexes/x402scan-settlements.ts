import type { Origin } from '../guard/origin.ts';
import type { SettlementFacts } from '../model/observations.ts';
import type { Answer, RequestContext } from './ask.ts';
import { askTrpc, indexReading } from './ask-trpc.ts';
import { isSameAddress, isSameOrigin, toIso } from './compare.ts';
import type { SellerRow } from './index-answers.ts';
import { WINDOW_DAYS } from './settlement-window.ts';

/** Counts settlements in the window that the index attributes to the origin. */
export async function x402scanSettlementsByOrigin(
  base: string,
  origin: Origin,
  context: RequestContext,
): Promise<Answer<SettlementFacts>> {
  const input = {
    originUrls: [origin.url],
    timeframe: WINDOW_DAYS,
    sorting: { id: 'tx_count', desc: true },
  };
  const rows = await sellers(base, 'public.sellers.bazaar.list', input, context);
  if (!rows.ok) return rows;
  const own = rows.value.filter(
    ({ origins }) =>
      origins === undefined || origins.some((one) => isSameOrigin(one.origin, origin)),
  );
  // A missing row may mean no settlement or an unknown origin, so it proves nothing.
  return { ok: true, value: toFacts(null, own, own.length === 0 ? 0 : WINDOW_DAYS) };
}

/** Counts settlements to one address over all of its origins. An empty `include` would select all rows. */
export async function x402scanSettlementsByAddress(
  base: string,
  address: string,
  context: RequestContext,
): Promise<Answer<SettlementFacts>> {
  const input = { recipients: { include: [address] }, timeframe: WINDOW_DAYS };
  const rows = await sellers(base, 'public.sellers.all.list', input, context);
  if (!rows.ok) return rows;
  const own = rows.value.filter(
    ({ recipient }) => recipient === undefined || isSameAddress(recipient, address),
  );
  return { ok: true, value: toFacts(address, own, WINDOW_DAYS) };
}

function sellers(
  base: string,
  procedure: string,
  input: object,
  context: RequestContext,
): Promise<Answer<readonly SellerRow[]>> {
  return askTrpc(base, procedure, input, { context, reading: indexReading('readSellerRows') });
}

function toFacts(
  address: string | null,
  rows: readonly SellerRow[],
  windowDays: number,
): SettlementFacts {
  const newest = rows
    .map((row) => toIso(row.latest_block_timestamp))
    .filter((at) => at !== null)
    .sort()
    .at(-1);
  return {
    address,
    windowDays,
    settlements: rows.reduce((sum, row) => sum + row.tx_count, 0),
    // Several rows may have the same buyers, so only the greatest count is certain.
    payers: Math.max(0, ...rows.map((row) => row.unique_buyers)),
    lastAt: newest ?? null,
  };
}
