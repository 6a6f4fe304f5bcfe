import type { OfferOnChain } from '../model/observations.ts';
import type { ChainOffer } from '../model/standing.ts';
import { askNode, type RequestContext, type SourceAnswer, toNodeFailure } from './ask.ts';

/** CAIP-2 identifies a Solana network by this many characters of its genesis hash. */
const REFERENCE_CHARS = 32;
/** The number of accounts suffices, so the node sends no bytes of them. */
const EMPTY_SLICE = { offset: 0, length: 0 };

/** Checks that recipients have a token account, without which transfers fail. Ignores offers on other networks. */
export async function checkOffersOnSolana(
  rpcUrl: string,
  offers: readonly ChainOffer[],
  context: RequestContext,
): Promise<SourceAnswer<readonly OfferOnChain[]>> {
  const genesis = await callNode(rpcUrl, 'getGenesisHash', [], context);
  if (!genesis.ok) return genesis;
  if (typeof genesis.value !== 'string') return toNodeFailure(rpcUrl);
  const network = `solana:${genesis.value.slice(0, REFERENCE_CHARS)}`;
  const facts: OfferOnChain[] = [];
  for (const { asset, payTo, ...offer } of offers) {
    if (offer.network !== network) continue;
    const params = [payTo, { mint: asset }, { encoding: 'base64', dataSlice: EMPTY_SLICE }];
    const accounts = await callNode(rpcUrl, 'getTokenAccountsByOwner', params, context);
    if (!accounts.ok) return accounts;
    if (typeof accounts.value !== 'number') return toNodeFailure(rpcUrl);
    const noTokenAccount = accounts.value === 0;
    const evmFacts = { hasCode: true, domain: null, transferReverts: null };
    facts.push({ network, asset, payTo, noTokenAccount, ...evmFacts });
  }
  return { ok: true, value: facts };
}

async function callNode(
  rpcUrl: string,
  method: string,
  params: readonly unknown[],
  context: RequestContext,
): Promise<SourceAnswer<unknown>> {
  const reply = await askNode(rpcUrl, method, params, context);
  if (!reply.ok) return reply;
  const { value } = reply.value;
  return value === null || 'error' in value
    ? toNodeFailure(rpcUrl)
    : { ok: true, value: value.result };
}
