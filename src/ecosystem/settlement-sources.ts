/** The sources of settlements in the order in which they are trusted to be about this origin. */
import type { SettlementFacts } from '../model/observations.ts';
import type { Payee } from '../model/standing.ts';
import type { Answer, Asking } from './ask.ts';
import { bazaarSettlements } from './bazaar.ts';
import type { EcosystemOptions } from './ecosystem-options.ts';
import { settlementsInLogs } from './settlement-logs.ts';
import type { SettlementSource } from './settlement-source.ts';
import {
  x402scanSettlementsByAddress,
  x402scanSettlementsByOrigin,
} from './x402scan-settlements.ts';

/** Switched-off sources are left out; an empty list means that nobody can be asked. */
export function settlementSources(settings: EcosystemOptions): readonly SettlementSource[] {
  const { x402scanUrl, bazaarUrl, rpcUrl, asset, network } = settings;
  const sources: SettlementSource[] = [];
  if (x402scanUrl !== null) {
    sources.push(
      {
        name: 'x402scan',
        question: (origin) => ({
          key: `${x402scanUrl} settlements of ${origin.url}`,
          ask: (asking) => x402scanSettlementsByOrigin(x402scanUrl, origin, asking),
        }),
      },
      byAddress('x402scan', x402scanUrl, (address, asking) =>
        x402scanSettlementsByAddress(x402scanUrl, address, asking),
      ),
    );
  }
  if (bazaarUrl !== null) {
    sources.push(
      byAddress('Bazaar', bazaarUrl, (address, asking) =>
        bazaarSettlements(bazaarUrl, address, asking),
      ),
    );
  }
  if (rpcUrl !== null) {
    sources.push(
      byAddress(
        'chain logs',
        `${network} ${asset}`,
        (address, asking) => settlementsInLogs({ rpcUrl, asset }, address, asking),
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
  ask: (address: string, asking: Asking) => Promise<Answer<SettlementFacts>>,
  isCovered: (payee: Payee) => boolean = () => true,
): SettlementSource {
  return {
    name,
    question: (_origin, payees) => {
      const payee = payees.find(isCovered);
      if (payee === undefined) return null;
      const { address } = payee;
      return { key: `${place} settlements to ${address}`, ask: (asking) => ask(address, asking) };
    },
  };
}
