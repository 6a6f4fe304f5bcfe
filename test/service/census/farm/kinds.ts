/** Answers of the farm's sellers by kind, with the word of the day that each answer must get. */
import { hash } from 'node:crypto';
import type { CraftedAnswer } from '../../../fixtures/origins/crafted-answer.ts';
import {
  challengeAnswer,
  challengeOf,
  headerAnswer,
} from '../../../fixtures/origins/crafted-challenge.ts';
import {
  discoveryDocuments,
  openApiDocument,
  SUMMARY,
  WEATHER,
} from '../../../fixtures/sellers/seller-documents.ts';

/** A seller's own judgement of its answer; `moved` leads on, and `other` is about no resource. */
export type OwnVerdict = 'payable' | 'not_payable' | 'down' | 'not_checked' | 'moved' | 'other';

/** `cut`: the connection is closed without an answer. */
export type StandInAnswer = { readonly told: OwnVerdict; readonly answer: CraftedAnswer | 'cut' };

export type StandInRequest = {
  readonly url: string;
  readonly path: string;
  /** 0 or 1: the listed resource. */
  readonly at: number;
  readonly day: number;
};

export type Kind = {
  /** Number of sellers of this kind in a thousand. */
  readonly share: number;
  readonly method?: 'GET' | 'POST';
  readonly resources?: 0 | 1 | 2;
  /** Nobody listens. */
  readonly isDead?: boolean;
  /** Paths that robots.txt refuses to the census. */
  readonly refuses?: readonly string[];
  readonly robots?: CraftedAnswer;
  /** Its documents sell what it lists by POST. The census sends no POST to others. */
  readonly isDeclared?: true;
  /** Only a real scan meets what is odd about it. */
  readonly isOdd?: boolean;
  readonly says: (asked: StandInRequest) => StandInAnswer;
  /** Answers of further paths. */
  readonly beyond?: Readonly<Record<string, (asked: StandInRequest) => StandInAnswer>>;
};

export const PATHS = ['/paid/1', '/paid/2'] as const;
const NEW_PATH = '/paid/new';
export const HOUR_S = 3_600;

const say = (
  told: OwnVerdict,
  status: number,
  headers: CraftedAnswer['headers'] = {},
): StandInAnswer => ({
  told,
  answer: { status, headers, body: {} },
});

function sell(
  { url, path }: StandInRequest,
  sold: typeof WEATHER | typeof SUMMARY = WEATHER,
): StandInAnswer {
  const challenge = challengeOf(sold, url);
  const resource = { ...challenge.resource, url: url + path };
  return { told: 'payable', answer: challengeAnswer({ ...challenge, resource }) };
}

const sellBroken = ({ url }: StandInRequest): StandInAnswer => {
  const challenge = challengeOf(WEATHER, url);
  const accepts = challenge.accepts.map((offer) => ({ ...offer, payTo: '0x0' }));
  return { told: 'not_payable', answer: challengeAnswer({ ...challenge, accepts }) };
};

const later = (seconds: number) => say('not_checked', 429, { 'retry-after': String(seconds) });
const rules = (...lines: string[]): CraftedAnswer => ({
  status: 200,
  headers: { 'content-type': 'text/plain' },
  body: `${lines.join('\n')}\n`,
});

/** By name. The shares of all are a thousand together. */
export const KINDS: Readonly<Record<string, Kind>> = {
  payable: { share: 300, says: (asked) => sell(asked) },
  'payable-post': {
    share: 40,
    method: 'POST',
    isDeclared: true,
    says: (asked) => sell(asked, SUMMARY),
  },
  'post-undeclared': { share: 20, method: 'POST', says: (asked) => sell(asked, SUMMARY) },
  'one-resource': { share: 60, resources: 1, says: (asked) => sell(asked) },
  'second-payable': {
    share: 40,
    says: (asked) => (asked.at === 0 ? say('not_payable', 404) : sell(asked)),
  },
  broken: { share: 40, says: sellBroken },
  'other-protocol': {
    share: 30,
    says: () => ({ told: 'not_payable', answer: headerAnswer('', { error: 'Pay by invoice.' }) }),
  },
  free: { share: 40, says: () => say('not_payable', 200) },
  gone: { share: 70, says: () => say('not_payable', 404) },
  private: { share: 20, says: () => say('not_checked', 401) },
  forbidden: { share: 20, says: () => say('not_checked', 403) },
  picky: { share: 20, says: ({ at }) => say('not_checked', at === 0 ? 400 : 422) },
  failing: { share: 40, says: () => say('down', 500) },
  'fails-and-hides': {
    share: 10,
    says: ({ at }) => (at === 0 ? say('down', 502) : say('not_checked', 401)),
  },
  'fails-and-gone': {
    share: 10,
    says: ({ at }) => (at === 0 ? say('down', 502) : say('not_payable', 404)),
  },
  closed: {
    share: 10,
    isOdd: true,
    says: () => say('down', 503, { 'retry-after': String(36 * HOUR_S) }),
  },
  cut: { share: 20, says: () => ({ told: 'down', answer: 'cut' }) },
  dead: { share: 60, isDead: true, isOdd: true, says: () => say('down', 500) },
  flaky: {
    share: 30,
    says: (asked) =>
      [sell(asked), say('down', 500), say('not_payable', 404)][asked.day % 3] ?? say('down', 500),
  },
  busy: { share: 20, isOdd: true, says: () => later(0) },
  'busy-for-days': { share: 20, isOdd: true, says: () => later(60 * HOUR_S) },
  'payable-then-busy': {
    share: 10,
    isOdd: true,
    says: (asked) => (asked.at === 0 ? sell(asked) : later(0)),
  },
  moved: {
    share: 10,
    isOdd: true,
    resources: 1,
    says: () => say('moved', 308, { location: NEW_PATH }),
    beyond: { [NEW_PATH]: (asked) => sell(asked) },
  },
  'moved-post': {
    share: 10,
    isOdd: true,
    resources: 1,
    method: 'POST',
    says: () => say('moved', 307, { location: NEW_PATH }),
    beyond: { [NEW_PATH]: (asked) => sell(asked, SUMMARY) },
  },
  'moved-twice': {
    share: 5,
    isOdd: true,
    resources: 1,
    says: () => say('moved', 302, { location: NEW_PATH }),
    beyond: { [NEW_PATH]: () => say('not_payable', 302, { location: '/nowhere' }) },
  },
  'moved-away': {
    share: 5,
    isOdd: true,
    says: () => say('not_payable', 302, { location: 'https://elsewhere.example/paid' }),
  },
  'post-found-elsewhere': {
    share: 5,
    isOdd: true,
    resources: 1,
    method: 'POST',
    says: () => say('not_payable', 302, { location: NEW_PATH }),
    beyond: { [NEW_PATH]: (asked) => sell(asked, SUMMARY) },
  },
  'refuses-one': {
    share: 10,
    isOdd: true,
    refuses: [PATHS[0]],
    robots: rules('User-agent: *', `Disallow: ${PATHS[0]}`),
    says: (asked) => sell(asked),
  },
  'refuses-us': {
    share: 10,
    isOdd: true,
    refuses: PATHS,
    robots: rules(
      'User-agent: x402-conformance-scanner',
      'Disallow: /',
      '',
      'User-agent: *',
      'Allow: /',
    ),
    says: (asked) => sell(asked),
  },
  'allows-us': {
    share: 5,
    isOdd: true,
    robots: rules(
      'User-agent: *',
      'Disallow: /',
      '',
      'User-agent: x402-conformance-scanner',
      'Allow: /',
    ),
    says: (asked) => sell(asked),
  },
  'rules-fail': { share: 5, isOdd: true, robots: { status: 500 }, says: (asked) => sell(asked) },
  'rules-busy': { share: 5, isOdd: true, robots: { status: 429 }, says: (asked) => sell(asked) },
};

/** An origin that is listed without a path; its documents say what it sells. */
export const BARE: Kind = {
  share: 0,
  resources: 0,
  isOdd: true,
  says: (asked) => sell(asked),
  beyond: {
    [WEATHER.path]: (asked) => sell(asked),
    [SUMMARY.path]: (asked) => sell(asked, SUMMARY),
  },
};

/** The answer of a document of an origin without listed paths; null for others. */
export function documentOf(url: string, path: string): CraftedAnswer | null {
  const documents = [openApiDocument(url), ...discoveryDocuments(url)];
  const known = documents.find((one) => one.path === path && path !== '/robots.txt');
  return known === undefined
    ? null
    : { status: 200, headers: { 'content-type': known.type }, body: known.body };
}

/** 0 to 999, by a hash, so that no list has to be kept. */
export function numberOf(name: string): number {
  return Number.parseInt(hash('sha256', name).slice(0, 8), 16) % 1_000;
}
