import type { OfferOnChain } from '../model/observations.ts';
import type { ChainOffer } from '../model/standing.ts';
import { askNode, failed, type IndexAnswer, type RequestContext } from './ask.ts';

const REFERENCE_CHARS = 32;

/** Checks that recipients have a token account, without which transfers fail. Offers outside the node's network are left out. */
export async function offersOnSolana(
  rpcUrl: string,
  offers: readonly ChainOffer[],
  context: RequestContext,
): Promise<IndexAnswer<readonly OfferOnChain[]>> {
  const genesis = await call(rpcUrl, 'getGenesisHash', [], context);
  if (!genesis.ok) return genesis;
  if (typeof genesis.value !== 'string') return unknown(rpcUrl);
  const network = `solana:${genesis.value.slice(0, REFERENCE_CHARS)}`;
  const readings: OfferOnChain[] = [];
  for (const { asset, payTo, ...offer } of offers) {
    if (offer.network !== network) continue;
    const params = [payTo, { mint: asset }, { encoding: 'base64', dataSlice: NOTHING }];
    const accounts = await call(rpcUrl, 'getTokenAccountsByOwner', params, context);
    if (!accounts.ok) return accounts;
    if (typeof accounts.value !== 'number') return unknown(rpcUrl);
    const noTokenAccount = accounts.value === 0;
    const rest = { hasCode: true, domain: null, transferReverts: null };
    readings.push({ network, asset, payTo, noTokenAccount, ...rest });
  }
  return { ok: true, value: readings };
}

const NOTHING = { offset: 0, length: 0 };

async function call(
  rpcUrl: string,
  method: string,
  params: readonly unknown[],
  context: RequestContext,
): Promise<IndexAnswer<unknown>> {
  const reply = await askNode(rpcUrl, method, params, context);
  if (!reply.ok) return reply;
  const { value } = reply.value;
  return value === null || 'error' in value ? unknown(rpcUrl) : { ok: true, value: value.result };
}

function unknown(rpcUrl: string): IndexAnswer<never> {
  return failed(`${new URL(rpcUrl).host} answered calls of the chain in no known form`);
}
