import { STATISTICS_DAYS, type Statistics } from '../../directory/statistics.ts';
import type { CatalogCheck } from '../../engine/catalog/catalog.ts';
import type { PayableState } from '../../model/payability.ts';
import { ALL_GRADES } from '../../model/report.ts';
import { networkName } from '../../parse/x402/networks.ts';
import { toPhrase } from '../../words/check-phrases.ts';
import { checkShares, countBars, priceRange } from './pictures.ts';

const PAYERS: Readonly<Record<PayableState, string>> = {
  default: 'clients as they come',
  settings: 'with other settings',
  unknown: 'not known',
  nobody: 'nobody',
  noChallenge: 'no challenge seen',
};

const AVAILABILITY = [
  ['payable', 'payable'],
  ['notPayable', 'not payable'],
  ['down', 'down'],
  ['notChecked', 'not checked'],
] as const;

export function statisticsPage(statistics: Statistics, checks: readonly CatalogCheck[]) {
  const { days, asOf, unit, disclaimer, origins, grades, payableBy, availability, offers, prices } =
    statistics;
  const titles = new Map(checks.map(({ id, title }) => [id, title]));
  const states = Object.entries(payableBy) as [PayableState, number][]; // the keys of a closed record
  const { p10, p50, p90 } = prices;
  const words = AVAILABILITY.map(([key, label]) => ({ label, count: availability[key] }));
  return {
    title: 'Statistics',
    summary: 'How sellers do, only in aggregates',
    periods: STATISTICS_DAYS.map((one) => ({ days: one, isChosen: one === days })),
    days,
    asOf,
    unit,
    disclaimer,
    origins,
    grades: countBars(
      'Grades',
      ALL_GRADES.map((grade) => ({ label: grade, count: grades[grade] })),
    ),
    payers: countBars(
      'Who can pay',
      states.map(([state, count]) => ({ label: PAYERS[state], count })),
    ),
    words: words.some(({ count }) => count > 0) ? countBars('Payable that day', words) : null,
    checks: statistics.checks.map((check) => {
      const { id, pass, warn, fail, notDetermined } = check;
      const counts = [pass, warn, fail, notDetermined];
      return { id, phrase: toPhrase(titles.get(id) ?? id), counts, picture: checkShares(check) };
    }),
    offers: [
      { heading: 'By scheme', rows: rowsOf(offers.byScheme) },
      { heading: 'By network', rows: rowsOf(offers.byNetwork, networkName) },
      { heading: 'By asset', rows: rowsOf(offers.byAsset) },
    ],
    prices:
      p10 === null || p50 === null || p90 === null
        ? null
        : { picture: priceRange({ p10, p50, p90 }), count: prices.count },
  };
}

function rowsOf(counts: Readonly<Record<string, number>>, toName = (name: string) => name) {
  return Object.entries(counts).map(([name, count]) => ({ name: toName(name), count }));
}
