/** The answer that a report begins with: "Can an agent pay this API?" */
import type { OfferPayability, ResourcePayability } from '../model/payability.ts';
import type { ScanReport } from '../model/report.ts';
import { knownAsset } from '../parse/x402/assets.ts';
import { networkName } from '../parse/x402/networks.ts';

export type Answered = Pick<ScanReport, 'payability' | 'payableBy'>;

/**
 * One line of plain text. It holds text of the origin (cleaned, short) only in the client's words,
 * so it is escaped like all evidence.
 */
export function answerLine({ payability, payableBy }: Answered): string {
  if (payability === null) return 'Not known: this scan is older than the question who can pay.';
  if (payableBy === null) return 'No: nothing here asked for a payment.';
  const byDefault = payability.filter((one) => one.payableBy === 'default');
  const count = `${byDefault.length} of ${payability.length} ${plural(payability.length)}`;
  if (byDefault.length > 0) {
    const terms = `default clients can pay ${count}${cheapest(byDefault)}`;
    return byDefault.length === payability.length ? `Yes: ${terms}` : `Partly: ${terms}`;
  }
  const words = wordsOf(payability);
  if (payableBy === 'settings') {
    return `Only with settings: default clients refuse, the official client says ${words}`;
  }
  if (payableBy === 'unknown') {
    return 'Not known: no official client here has the schemes and networks that are offered.';
  }
  return `No: default clients can pay 0 of ${payability.length} ${plural(payability.length)}, the official client says ${words}`;
}

function plural(count: number): string {
  return count === 1 ? 'resource' : 'resources';
}

function wordsOf(payability: readonly ResourcePayability[]): string {
  const of = ({ offers, words }: ResourcePayability): string | null =>
    offers.find(({ verdict, words: own }) => verdict !== 'signs' && own !== null)?.words ?? words;
  const said = payability.map(of).find((words) => words !== null);
  return JSON.stringify(said ?? 'nothing');
}

/** ", from $0.01, USDC on Base": the cheapest offer of an asset that is worth a dollar. */
function cheapest(resources: readonly ResourcePayability[]): string {
  const priced = resources
    .flatMap(({ offers }) => offers)
    .filter(({ verdict }) => verdict === 'signs')
    .flatMap(priceOf)
    .toSorted((one, other) => one.dollars - other.dollars);
  const [first] = priced;
  return first === undefined ? '' : `, from $${money(first.dollars)}, ${first.name}`;
}

function priceOf({ network, asset, amount }: OfferPayability) {
  const known = network !== null && asset !== null ? knownAsset(network, asset) : null;
  if (known === null || network === null || amount === null || !/^[0-9]{1,40}$/.test(amount)) {
    return [];
  }
  const dollars = Number(amount) / 10 ** known.decimals;
  return [{ dollars, name: `${known.symbol} on ${networkName(network)}` }];
}

/** Two places at least, and as many as the price has: "0.01", "0.0025". */
function money(dollars: number): string {
  const exact = dollars.toFixed(6).replace(/0+$/, '');
  const [whole = '0', parts = ''] = exact.split('.');
  return `${whole}.${parts.padEnd(2, '0')}`;
}
