import type { OfferOnChain } from '../model/observations.ts';
import type { ChainOffer } from '../model/standing.ts';
import { askNode, type IndexAnswer, type RequestContext, toFailure } from './ask.ts';

/** CAIP-2 names a Solana network by this many characters of its genesis hash. */
const REFERENCE_CHARS = 32;

/** Checks that recipients have a token account, without which transfers fail. Ignores offers on other networks. */
export async function checkOffersOnSolana(
  rpcUrl: string,
  offers: readonly ChainOffer[],
  context: RequestContext,
): Promise<IndexAnswer<readonly OfferOnChain[]>> {
  const genesis = await callNode(rpcUrl, 'getGenesisHash', [], context);
  if (!genesis.ok) return genesis;
  if (typeof genesis.value !== 'string') return toFault(rpcUrl);
  const network = `solana:${genesis.value.slice(0, REFERENCE_CHARS)}`;
  const readings: OfferOnChain[] = [];
  for (const { asset, payTo, ...offer } of offers) {
    if (offer.network !== network) continue;
    const params = [payTo, { mint: asset }, { encoding: 'base64', dataSlice: EMPTY_SLICE }];
    const accounts = await callNode(rpcUrl, 'getTokenAccountsByOwner', params, context);
    if (!accounts.ok) return accounts;
    if (typeof accounts.value !== 'number') return toFault(rpcUrl);
    const noTokenAccount = accounts.value === 0;
    const otherFacts = { hasCode: true, domain: null, transferReverts: null };
    readings.push({ network, asset, payTo, noTokenAccount, ...otherFacts });
  }
  return { ok: true, value: readings };
}

const EMPTY_SLICE = { offset: 0, length: 0 };

async function callNode(
  rpcUrl: string,
  method: string,
  params: readonly unknown[],
  context: RequestContext,
): Promise<IndexAnswer<unknown>> {
  const reply = await askNode(rpcUrl, method, params, context);
  if (!reply.ok) return reply;
  const { value } = reply.value;
  return value === null || 'error' in value ? toFault(rpcUrl) : { ok: true, value: value.result };
}

function toFault(rpcUrl: string): IndexAnswer<never> {
  return toFailure(`${new URL(rpcUrl).host} answered calls of the chain in no known form`);
}
