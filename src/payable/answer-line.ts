/** The answer that a report begins with: "Can an agent pay this API?" */
import type { ResourcePayability } from '../model/payability.ts';
import type { ScanReport } from '../model/report.ts';
import { money, priceOf } from './offer-price.ts';

export type Answered = Pick<ScanReport, 'payability' | 'payableBy'> &
  Partial<Pick<ScanReport, 'results'>>;

/** The checks that say where a challenge is broken, the terms before the header. */
const CHALLENGE_CHECKS = ['P3', 'P4'];

/**
 * One line of plain text. It holds text of the origin (cleaned, short) only in the client's words,
 * so it is escaped like all evidence.
 */
export function answerLine({ payability, payableBy, results }: Answered): string {
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
  const fault = faultOf(results ?? []) ?? `default clients can pay ${count}`;
  return `No: ${fault}, the official client says ${words}`;
}

/** "GET /a /accepts/0/extra/version: missing": the first place that a failed check names. */
function faultOf(results: ScanReport['results']): string | null {
  for (const check of CHALLENGE_CHECKS) {
    const failed = results.find(
      ({ id, status, basis }) => id === check && status === 'fail' && basis === 'measured',
    );
    const [first] = failed?.evidence.replace(/^\d+ of \d+: /, '').split('; ') ?? [];
    if (first !== undefined && !first.includes('the official client says')) return first;
  }
  return null;
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
    .flatMap((offer) => priceOf(offer) ?? [])
    .toSorted((one, other) => one.dollars - other.dollars);
  const [first] = priced;
  return first === undefined ? '' : `, from $${money(first.dollars)}, ${first.name}`;
}
