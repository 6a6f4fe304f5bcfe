/** The sources of settlements in the order in which they are trusted to be about this origin. */
import type { Origin } from '../origin/origin.ts';
import type { Payee } from '../probe/standing.ts';
import { bazaarSettlements } from './bazaar.ts';
import type { EcosystemSettings } from './create-standing.ts';
import { settlementsInLogs } from './settlement-logs.ts';
import type { SettlementSource } from './settlement-source.ts';
import { x402scanSettlementsByAddress, x402scanSettlementsByOrigin } from './x402scan.ts';

/** Switched-off sources are left out; an empty list means that nobody can be asked. */
export function settlementSources(settings: EcosystemSettings): readonly SettlementSource[] {
  const { x402scanUrl, bazaarUrl, rpcUrl, asset, network } = settings;
  const sources: SettlementSource[] = [];
  if (x402scanUrl !== null) {
    sources.push(
      {
        name: 'x402scan',
        question: 'by origin',
        ask: (origin) => x402scanSettlementsByOrigin(x402scanUrl, origin),
      },
      {
        name: 'x402scan',
        question: 'by address',
        ask: byAddress((address) => x402scanSettlementsByAddress(x402scanUrl, address)),
      },
    );
  }
  if (bazaarUrl !== null) {
    sources.push({
      name: 'Bazaar',
      question: 'by address',
      ask: byAddress((address) => bazaarSettlements(bazaarUrl, address)),
    });
  }
  if (rpcUrl !== null) {
    sources.push({
      name: 'chain logs',
      question: 'by address',
      ask: byAddress(
        (address) => settlementsInLogs({ rpcUrl, asset }, address),
        (payee) => payee.network === network || payee.network === V1_NAMES.get(network),
      ),
    });
  }
  return sources;
}

/** v1 challenges name networks by word. */
const V1_NAMES: ReadonlyMap<string, string> = new Map([
  ['eip155:8453', 'base'],
  ['eip155:84532', 'base-sepolia'],
]);

type AskAddress = (address: string) => ReturnType<typeof bazaarSettlements>;

function byAddress(
  ask: AskAddress,
  isCovered: (payee: Payee) => boolean = () => true,
): SettlementSource['ask'] {
  return (_origin: Origin, payees: readonly Payee[]) => {
    const payee = payees.find(isCovered);
    return payee === undefined ? null : ask(payee.address);
  };
}
