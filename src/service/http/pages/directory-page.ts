import type { PayableBy } from '../../../scanner/model/payability.ts';
import { ALL_GRADES, CATEGORIES } from '../../../scanner/model/report.ts';
import { formatOfferPrice } from '../../../scanner/report/answer-line.ts';
import { toFilterText } from '../../directory/feeds.ts';
import type { Project } from '../../directory/project.ts';
import type { DirectoryQuery } from '../../store/context.ts';
import { describeDays, drawDaySquares } from './day-strip.ts';
import { cutText } from './page-text.ts';

type DirectoryPageInput = {
  readonly query: DirectoryQuery;
  /** Number of all hosts that match the query. */
  readonly count: number;
  readonly projects: readonly Project[];
  /** True if this revision filters by grade, and its records say who can pay. */
  readonly showsPayers: boolean;
  readonly showsCensus: boolean;
  /** URL of the directory's feed without filters; null if this revision has none. */
  readonly feedUrl: string | null;
};

const MAX_NAME_BYTES = 120;
const PAYERS: Readonly<Record<PayableBy, string>> = {
  default: 'default clients',
  settings: 'with settings',
  unknown: 'not known',
  nobody: 'nobody',
};

/** A choice of a filter. `value` is undefined for the choice that leaves the filter out. */
type Choice = { readonly label: string; readonly value: string | boolean | undefined };
type Filter = {
  readonly name: 'sort' | 'grade' | 'category' | 'verified' | 'payable';
  readonly label: string;
  readonly choices: readonly Choice[];
};

const ANY: Choice = { label: 'Any', value: undefined };
/** In the order of the page. */
const FILTERS: readonly Filter[] = [
  {
    name: 'sort',
    label: 'Order',
    choices: [
      { label: 'Newest scan', value: 'recent' },
      { label: 'Best grade', value: 'grade' },
    ],
  },
  { name: 'grade', label: 'Grade', choices: [ANY, ...ALL_GRADES.map(toChoice)] },
  { name: 'category', label: 'Category', choices: [ANY, ...CATEGORIES.map(toChoice)] },
  { name: 'verified', label: 'Owner', choices: [ANY, { label: 'Verified', value: true }] },
  {
    name: 'payable',
    label: 'Payable',
    choices: [ANY, { label: 'Today', value: 'today' }, { label: 'This week', value: 'week' }],
  },
];

/** Makes the page of all listed hosts. It needs no script: each filter is a link that keeps the other filters. */
export function toDirectoryPage(input: DirectoryPageInput) {
  const { query, count, projects, showsPayers, showsCensus, feedUrl } = input;
  const { page, pageSize } = query;
  const filters = FILTERS.filter(
    ({ name }) => (showsPayers || name !== 'grade') && (showsCensus || name !== 'payable'),
  );
  const lastPage = Math.max(0, Math.ceil(count / pageSize) - 1);
  return {
    ...input,
    title: 'Directory of x402 sellers',
    summary: 'Every listed x402 seller with its grade, who can pay it, and from which price',
    q: query.q ?? '',
    filters: filters.map((filter) => toFilterView(filter, query)),
    widerSearches: listWiderSearches(filters, query),
    hiddenFields: listHiddenFields(query),
    rows: projects.map(toRow),
    range: toRange(page * pageSize, projects.length, count),
    // The page before one that is too far is the last page.
    previous: page > 0 ? toLink({ ...query, page: Math.min(page - 1, lastPage) }) : null,
    next: page < lastPage ? toLink({ ...query, page: page + 1 }) : null,
    feed: feedUrl === null ? null : `${feedUrl}${toFilterText(query)}`,
  };
}

function toChoice(value: string): Choice {
  return { label: value, value };
}

function toFilterView({ name, label, choices }: Filter, query: DirectoryQuery) {
  return {
    label,
    choices: choices.map((choice) => ({
      label: choice.label,
      isCurrent: query[name] === choice.value,
      // Another choice has other pages, so its list begins at the first.
      href: toLink({ ...query, [name]: choice.value, page: 0 }),
    })),
  };
}

/** Lists links that each leave one filter out, and at last a link that leaves all of them out. */
function listWiderSearches(filters: readonly Filter[], query: DirectoryQuery) {
  const searches = filters
    .filter(({ name }) => name !== 'sort' && query[name] !== undefined)
    .map(({ name, label, choices }) => {
      const choice = choices.find(({ value }) => value === query[name]);
      const href = toLink({ ...query, [name]: undefined, page: 0 });
      return { label: `without ${label}: ${choice?.label ?? ''}`, href };
    });
  const q = query.q ?? '';
  if (q !== '') {
    searches.push({ label: `without “${q}”`, href: toLink({ ...query, q: '', page: 0 }) });
  }
  return searches.length < 2
    ? searches
    : [...searches, { label: 'all origins', href: '/directory' }];
}

/** Lists the filters that the search form sends along. The default order needs no field. */
function listHiddenFields({ sort, grade, category, verified, payable }: DirectoryQuery) {
  const order = sort === 'grade' ? sort : undefined;
  return Object.entries({ sort: order, grade, category, verified, payable }).flatMap(
    ([name, value]) => (value === undefined ? [] : [{ name, value: String(value) }]),
  );
}

function toLink(query: DirectoryQuery): string {
  const parameters = new URLSearchParams(toFilterText(query));
  if (query.sort === 'grade') parameters.set('sort', 'grade');
  if (query.page > 0) parameters.set('page', String(query.page));
  return parameters.size === 0 ? '/directory' : `/directory?${parameters}`;
}

/** "31 to 60 of 212 origins"; "1 origin". */
function toRange(start: number, shown: number, count: number): string {
  const noun = count === 1 ? 'origin' : 'origins';
  if (shown === 0 || shown === count) return `${count} ${noun}`;
  return `${start + 1} to ${start + shown} of ${count} ${noun}`;
}

function toRow(project: Project) {
  const { availability = null, payableBy = null, priceFrom = null } = project;
  const isChecked = availability !== null && availability.checkedDays > 0;
  return {
    ...project,
    displayName:
      project.displayName === project.host ? '' : cutText(project.displayName, MAX_NAME_BYTES),
    day: project.lastScannedAt.slice(0, 10),
    payers: payableBy === null ? 'no challenge seen' : PAYERS[payableBy],
    price: priceFrom === null ? '' : (formatOfferPrice(priceFrom) ?? ''),
    squares: isChecked ? drawDaySquares(availability.days, describeDays(availability)) : null,
  };
}
