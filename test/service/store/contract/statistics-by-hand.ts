/** Counts statistics directly from reports, by the documented rule. */
import { type OfferPayability, PAYABLE_BY } from '../../../../src/scanner/model/payability.ts';
import {
  ALL_GRADES,
  type CheckResult,
  type ScanReport,
} from '../../../../src/scanner/model/report.ts';
import { type Dice, oneOf } from '../../../fixtures/dice.ts';

export const CHECKS = ['P1', 'S5', 'D1'];
/** Number of origins in the smallest block. */
export const MIN_BLOCK_ORIGINS = 10;

export type Block = {
  readonly lastDay: number;
  readonly reports: readonly ScanReport[];
  /** Days with origins. */
  readonly days: number;
};

/** Days with few origins wait for further ones. */
export function blocksOf(
  days: ReadonlyMap<number, ReadonlyMap<string, ScanReport>>,
  foldedBefore: number,
): readonly Block[] {
  const blocks: Block[] = [];
  let waiting: ScanReport[] = [];
  let waitingDays = 0;
  for (const [lastDay, reports] of days) {
    if (lastDay >= foldedBefore) break;
    if (reports.size > 0) waitingDays += 1;
    waiting.push(...reports.values());
    if (waiting.length < MIN_BLOCK_ORIGINS) continue;
    blocks.push({ lastDay, reports: waiting, days: waitingDays });
    waiting = [];
    waitingDays = 0;
  }
  return blocks;
}

export function recount(blocks: readonly Block[]) {
  const reports = blocks.flatMap((block) => block.reports);
  const fives = (count: number) => Math.floor(count / 5) * 5;
  const count = (is: (report: ScanReport) => boolean) => fives(reports.filter(is).length);
  const group = (names: readonly string[], is: (report: ScanReport, name: string) => boolean) =>
    Object.fromEntries(names.map((name) => [name, count((one) => is(one, name))]));
  const sells = (report: ScanReport, member: 'scheme' | 'network' | 'asset', value: string) =>
    offersOf(report).some((offer) => offer[member] === value);
  const seen = (member: 'scheme' | 'network' | 'asset', names: readonly string[]) => {
    const known = names.filter((name) => count((one) => sells(one, member, name)) > 0);
    return group(known, (one, name) => sells(one, member, name));
  };
  const prices = pricesOf(reports);
  const days = blocks.filter((block) => block.days === 1).map((block) => pricesOf(block.reports));
  const at = (share: number) => {
    const price = prices[Math.ceil((prices.length * share) / 100) - 1];
    if (price === undefined) return null;
    const isTold = days.some((day) => {
      const near = day.filter((one) => one > price * 0.899 && one < price * 1.101);
      const below = day.filter((one) => one <= price);
      const above = day.filter((one) => one >= price);
      return [near, below, above].every((hosts) => hosts.length >= 5);
    });
    return isTold ? price : null;
  };
  return {
    origins: fives(reports.length),
    grades: group(ALL_GRADES, ({ grade }, name) => grade === name),
    payableBy: group(
      [...PAYABLE_BY, 'noChallenge'],
      (one, name) => (one.payableBy ?? 'noChallenge') === name,
    ),
    checks: CHECKS.map((id) => ({
      id,
      ...group(['pass', 'warn', 'fail', 'notDetermined'], (report, name) => {
        const result = report.results.find((each) => each.id === id);
        const isOpen = result?.basis === 'not_determined';
        return name === 'notDetermined' ? isOpen : !isOpen && result?.status === name;
      }),
    })),
    offers: {
      byScheme: seen('scheme', ['exact']),
      byNetwork: seen('network', [...NETWORKS.keys()]),
      byAsset: seen('asset', [...NETWORKS.values()]),
    },
    prices: { p10: at(10), p50: at(50), p90: at(90), count: fives(prices.length) },
  };
}

function pricesOf(reports: readonly ScanReport[]): readonly number[] {
  return reports
    .flatMap((report) => offersOf(report).slice(0, 1))
    .map(({ amount }) => Number(amount) / 1e6)
    .sort((a, b) => a - b);
}

const NETWORKS = new Map([
  ['eip155:8453', '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913'],
  ['eip155:137', '0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359'],
  ['solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp', 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v'],
]);

function offersOf({ payability }: ScanReport): readonly OfferPayability[] {
  return (payability ?? []).flatMap(({ offers }) => offers);
}

export function reportOf(dice: Dice): ScanReport {
  // Few prices, so that several hosts of a day have the same one.
  const amount = oneOf(dice, ['10000', '10000', '10000', '11000', '250000']);
  const offers = [...NETWORKS]
    .filter(() => dice.below(2) === 0)
    .map(([network, asset], n): OfferPayability => {
      const pointer = `/accepts/${n}`;
      const signed = { client: null, verdict: 'signs', words: null } as const;
      return { pointer, scheme: 'exact', network, asset, amount, ...signed };
    });
  const payableBy = oneOf(dice, [...PAYABLE_BY, null]);
  const resource = { method: 'GET', path: '/', payableBy: 'default', words: null, offers } as const;
  return {
    origin: 'https://api.example.com',
    grade: oneOf(dice, ALL_GRADES),
    score: 50,
    subScores: { protocol: 50, docs: 50, standing: null },
    checksVersion: '2026-08-14.2',
    scannedAt: '2026-09-01T12:00:00.000Z',
    results: CHECKS.map((id) => resultOf(id, dice)),
    payability: [resource],
    payableBy,
    clients: [],
    otherWays: [],
    advice: [],
    indexed: [],
  };
}

function resultOf(id: string, dice: Dice): CheckResult {
  return {
    id,
    title: 'a-check',
    category: 'protocol',
    severity: 'major',
    status: oneOf(dice, ['pass', 'warn', 'fail']),
    basis: oneOf(dice, ['measured', 'not_determined', 'not_evaluated']),
    outcome: 'seen',
    evidence: 'Seen.',
    fix: 'Nothing to do.',
  };
}
