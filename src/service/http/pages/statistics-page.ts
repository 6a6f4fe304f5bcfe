import type { CatalogCheck } from '../../../scanner/engine/catalog/catalog.ts';
import type { PayableState } from '../../../scanner/model/payability.ts';
import { ALL_GRADES } from '../../../scanner/model/report.ts';
import { toNetworkName } from '../../../scanner/parse/x402/networks.ts';
import { toHeading } from '../../../scanner/report/check-phrases.ts';
import { STATISTICS_DAYS, type Statistics } from '../../directory/statistics.ts';
import {
  drawCheckShares,
  drawCountBars,
  drawDayShares,
  drawPriceRange,
  toPercent,
} from './pictures.ts';

const PAYER_LABELS: Readonly<Record<PayableState, string>> = {
  default: 'Default settings',
  settings: 'Changed settings',
  unknown: 'Not known',
  nobody: 'Nobody',
  noChallenge: 'No challenge seen',
};

/** Members of `Statistics.availability`, which counts one day, with the label and the colour of each share. */
const AVAILABILITY_LABELS = [
  ['payable', 'Payable', 'pass'],
  ['notPayable', 'Not payable', 'fail'],
  ['down', 'Down', 'warn'],
  ['notChecked', 'Not checked', 'notDetermined'],
] as const;

export function toStatisticsPage(statistics: Statistics, checks: readonly CatalogCheck[]) {
  const { origins, grades, payableBy, availability, offers, prices } = statistics;
  const titles = new Map(checks.map(({ id, title }) => [id, title]));
  const payerCounts = Object.entries(payableBy) as [PayableState, number][]; // the keys of a closed record
  const { p10, p50, p90 } = prices;
  const dayShares = AVAILABILITY_LABELS.map(([key, label, state]) => ({
    label,
    count: availability[key],
    state,
  }));
  return {
    ...statistics,
    title: 'Statistics',
    summary: 'Results of sellers, only as totals',
    periods: STATISTICS_DAYS.map((period) => ({
      days: period,
      isChosen: period === statistics.days,
    })),
    grades: drawCountBars(
      'Grades',
      ALL_GRADES.map((grade) => ({ label: grade, count: grades[grade] })),
    ),
    payers: drawCountBars(
      'Who can pay',
      payerCounts.map(([state, count]) => ({ label: PAYER_LABELS[state], count })),
    ),
    availability: dayShares.some(({ count }) => count > 0)
      ? drawDayShares('Payable on the last full day', dayShares)
      : null,
    checks: statistics.checks.map((check) => {
      const { id, pass, warn, fail, notDetermined } = check;
      const phrase = toHeading(titles.get(id) ?? id);
      const counts = [pass, warn, fail, notDetermined];
      const total = counts.reduce((sum, count) => sum + count, 0);
      const cells = counts.map((count) => ({ count, percent: toPercent(count, total) }));
      return { id, phrase, cells, picture: drawCheckShares(check) };
    }),
    offers: [
      { heading: 'By scheme', rows: toRows(offers.byScheme, origins) },
      { heading: 'By network', rows: toRows(offers.byNetwork, origins, toNetworkName) },
      { heading: 'By asset', rows: toRows(offers.byAsset, origins) },
    ],
    prices: {
      picture:
        p10 === null || p50 === null || p90 === null ? null : drawPriceRange({ p10, p50, p90 }),
      phrases: listPricePhrases(prices),
      count: prices.count,
    },
  };
}

/** Returns one phrase for each percentile that is not null. */
function listPricePhrases({ p10, p50, p90 }: Statistics['prices']): readonly string[] {
  const percentiles = [
    ['10 %', p10],
    ['half', p50],
    ['90 %', p90],
  ] as const;
  return percentiles.flatMap(([share, price]) =>
    price === null ? [] : [`${share} ask at most $${price}`],
  );
}

function toRows(
  counts: Readonly<Record<string, number>>,
  origins: number,
  toName = (name: string) => name,
) {
  return Object.entries(counts).map(([name, count]) => ({
    name: toName(name),
    count,
    percent: toPercent(count, origins),
  }));
}
