/** Settlement sources in order of trust that their answers are about this origin. */
import type { Origin } from '../guard/origin.ts';
import type { SettlementFacts } from '../model/observations.ts';
import type { Payee } from '../model/standing.ts';
import { caip2 } from '../parse/x402/networks.ts';
import type { Answer, RequestContext } from './ask.ts';
import { type AskMerchant, bazaarSettlements } from './bazaar.ts';
import type { EcosystemOptions } from './ecosystem-options.ts';
import {
  x402scanSettlementsByAddress,
  x402scanSettlementsByOrigin,
} from './x402scan-settlements.ts';

export type SettlementQuestion = {
  /** Cache key within the source: two scans with the same key share an answer. */
  readonly key: string;
  ask(context: RequestContext): Promise<Answer<SettlementFacts>>;
};

export type SettlementSource = {
  /** Display name for evidence. */
  readonly name: string;
  /** Null when the source cannot answer for this origin and these recipients. */
  question(origin: Origin, payees: readonly Payee[]): SettlementQuestion | null;
};

/** Disabled sources are left out; an empty list means that none can be asked. */
export function settlementSources(
  options: EcosystemOptions,
  askMerchant?: AskMerchant,
): readonly SettlementSource[] {
  const { x402scanUrl, bazaarUrl, rpcUrl, asset, network, chainTurn } = options;
  const sources: SettlementSource[] = [];
  if (x402scanUrl !== null) {
    sources.push(
      {
        name: 'x402scan',
        question: (origin) => ({
          key: `${x402scanUrl} settlements of ${origin.url}`,
          ask: (context) => x402scanSettlementsByOrigin(x402scanUrl, origin, context),
        }),
      },
      byAddress('x402scan', x402scanUrl, (address, context) =>
        x402scanSettlementsByAddress(x402scanUrl, address, context),
      ),
    );
  }
  if (bazaarUrl !== null) {
    sources.push(
      byAddress('Bazaar', bazaarUrl, (address, context) =>
        bazaarSettlements(bazaarUrl, address, context, askMerchant),
      ),
    );
  }
  if (rpcUrl !== null) {
    sources.push(
      byAddress(
        'chain logs',
        `${network} ${asset}`,
        async (address, context) => {
          // Imported on demand, because it loads the chain packages.
          const { settlementsInLogs } = await import('./settlement-logs.ts');
          return settlementsInLogs({ rpcUrl, asset, chainTurn }, address, context);
        },
        (payee) => caip2(payee.network) === network,
      ),
    );
  }
  return sources;
}

function byAddress(
  name: string,
  place: string,
  ask: (address: string, context: RequestContext) => Promise<Answer<SettlementFacts>>,
  isCovered: (payee: Payee) => boolean = () => true,
): SettlementSource {
  return {
    name,
    question: (_origin, payees) => {
      const payee = payees.find(isCovered);
      if (payee === undefined) return null;
      const { address } = payee;
      return { key: `${place} settlements to ${address}`, ask: (context) => ask(address, context) };
    },
  };
}
