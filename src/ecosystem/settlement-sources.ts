/** The sources of settlements in the order in which they are trusted to be about this origin. */

import type { Origin } from '../guard/origin.ts';
import type { SettlementFacts } from '../model/observations.ts';
import type { Payee } from '../model/standing.ts';
import type { Answer, RequestContext } from './ask.ts';
import { type AskMerchant, bazaarSettlements } from './bazaar.ts';
import type { EcosystemOptions } from './ecosystem-options.ts';
import {
  x402scanSettlementsByAddress,
  x402scanSettlementsByOrigin,
} from './x402scan-settlements.ts';

export type SettlementQuestion = {
  /** With the source's name, the key of a kept answer: two scans that ask the same share one. */
  readonly key: string;
  ask(context: RequestContext): Promise<Answer<SettlementFacts>>;
};

export type SettlementSource = {
  /** For evidence: who answered. */
  readonly name: string;
  /** Null where the source cannot be asked about this origin and these recipients. */
  question(origin: Origin, payees: readonly Payee[]): SettlementQuestion | null;
};

/** Leaves out sources that are switched off; an empty list means that no source can be asked. */
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
          // Loaded where there is a node: it brings the packages of the chain.
          const { settlementsInLogs } = await import('./settlement-logs.ts');
          return settlementsInLogs({ rpcUrl, asset, chainTurn }, address, context);
        },
        (payee) => payee.network === network || payee.network === V1_NAMES.get(network),
      ),
    );
  }
  return sources;
}

/** v1 challenges name networks by word. */
const V1_NAMES: ReadonlyMap<string, string> = new Map([
  ['eip155:8453', 'base'],
  ['eip155:84532', 'base-sepolia'],
]);

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
