import type { PayableBy } from '../../../scanner/model/payability.ts';
import { toNetworkName } from '../../../scanner/parse/x402/networks.ts';
import { formatProtocol } from '../../../scanner/parse/x402/other-protocol.ts';
import type { Preflight, PreflightOffer, ReasonCode } from '../../../scanner/preflight/result.ts';
import type { Project } from '../../directory/project.ts';
import type { DirectoryChange } from '../../store/changes.ts';
import {
  cutText,
  describePayableDays,
  type RequestValues,
  toLocalScan,
  toScanRequest,
} from './page-text.ts';
import { drawGradeHistogram, type GradeCounts } from './pictures.ts';

type HomePageInput = {
  /** Number of all listed hosts. */
  readonly count: number;
  /** The newest hosts, newest scan first. */
  readonly projects: readonly Project[];
  readonly gradeCounts: GradeCounts;
  /** Newest first. */
  readonly changes: readonly DirectoryChange[];
  /** "$0.05" */
  readonly scanPrice: string;
  /** The address that the visitor typed. `answer` is about this address. */
  readonly typedUrl: string;
  readonly answer: AnswerView | null;
  readonly hasMcp: boolean;
};

const MAX_MOVEMENTS = 8;
const MAX_NAME_BYTES = 120;

export function toHomePage(input: HomePageInput) {
  return {
    ...input,
    projects: input.projects.map((project) => ({
      ...project,
      displayName: cutText(project.displayName, MAX_NAME_BYTES),
      days: toDaysTag(project.availability),
    })),
    title: 'x402 Conformance Scanner',
    summary: 'Can an agent pay this API? Grades of x402 seller origins, on 25 published checks',
    histogram: drawGradeHistogram(input.gradeCounts),
    movements: toMovements(input),
  };
}

/** "payable 29 of 30 days", or an empty text for an origin that was never checked. */
function toDaysTag(availability: Project['availability']): string {
  const { payableDays = 0, checkedDays = 0 } = availability ?? {};
  return checkedDays === 0 ? '' : describePayableDays({ payableDays, checkedDays });
}

/** Lists new hosts and changed grades, only of hosts that this page shows: it shows few hosts of one domain. */
function toMovements({ changes, projects }: HomePageInput) {
  const shownHosts = new Set<string>(projects.map(({ host }) => host));
  return changes
    .filter(({ changeType, host }) => changeType !== 'rescanned' && shownHosts.has(host))
    .slice(0, MAX_MOVEMENTS)
    .map(({ host, grade, previousGrade = null, changedAtMs }) => {
      const changedAt = new Date(changedAtMs).toISOString();
      return { host, grade, previousGrade, changedAt, day: changedAt.slice(0, 10) };
    });
}

/**
 * The answer about the address that a visitor typed. `problem` says why the scanner cannot request this address.
 * `search` is a text that the visitor may search for among the scanned hosts.
 */
export type AnswerView =
  | { readonly problem: string; readonly search: string | null }
  | (ReturnType<typeof toAnswerView> & { readonly problem: null });

type PreflightAnswer = RequestValues & {
  readonly preflight: Preflight;
  /** The path that was requested; null if no paid path of the origin is known. */
  readonly path: string | null;
};

const VERDICT_TEXTS = {
  go: { mark: '✓', word: 'Go', sentence: 'An agent can pay this.' },
  caution: { mark: '!', word: 'Caution', sentence: 'Read the reasons before an agent pays this.' },
  'no-go': { mark: '✗', word: 'No-go', sentence: 'An agent should not pay this.' },
} as const;

const PAYER_TEXTS: Readonly<Record<PayableBy, string>> = {
  default: 'Clients with default settings',
  settings: 'Only clients with changed settings',
  unknown: 'Not known: no official client supports its scheme',
  nobody: 'Nobody',
};

const REASON_TEXTS: Readonly<Record<ReasonCode, string>> = {
  refused: 'The scanner sends no request to this address.',
  unreachable: 'Nothing answers at this address.',
  not_found: 'There is nothing at this address.',
  server_error: 'The server answers with an error.',
  no_challenge: 'It wants a payment, but does not say to whom or how much.',
  other_protocol: 'It wants a payment over a protocol other than x402.',
  nobody_can_pay: 'No official client can pay it.',
  invalid_challenge: 'Its challenge breaks the specification.',
  other_origin: 'Its challenge is for another origin.',
  over_max_price: 'It costs more than the limit.',
  some_over_max_price: 'Some offers cost more than the limit.',
  price_unknown: 'The price of some offers is not known.',
  not_asked: 'No request was sent to it.',
  no_answer: 'It did not answer within a second.',
  no_payment_asked: 'It answers without a payment.',
  not_challenged: 'It does not ask for a payment.',
  settings_only: 'Clients refuse it unless their settings are changed.',
  unknown_scheme: 'No official client supports its scheme and network.',
  testnet_only: 'Every offer is on a test network.',
  pays_before_delivery: 'You pay before delivery, and no refund is known.',
  flawed_challenge: 'Its challenge has a flaw.',
  not_judged: 'Its challenge could not be judged.',
};

const MAX_OFFERS = 5;

export function toAnswerView(answer: PreflightAnswer) {
  const { preflight, origin, path } = answer;
  const { verdict, reasons, terms, otherWays = [] } = preflight;
  const offers = terms?.offers ?? [];
  return {
    problem: null,
    requestLine: path === null ? origin : `GET ${origin}${path}`,
    verdict,
    ...VERDICT_TEXTS[verdict],
    payers: terms?.payableBy ? PAYER_TEXTS[terms.payableBy] : 'Not known',
    prices: offers.slice(0, MAX_OFFERS).map(writePrice),
    otherWays: otherWays.map(formatProtocol).join(', '),
    furtherPrices: Math.max(0, offers.length - MAX_OFFERS),
    reasons: reasons.map(({ code, evidence }) => ({ sentence: REASON_TEXTS[code], evidence })),
    scanRequests: [toLocalScan(answer), toScanRequest(answer)],
  };
}

function writePrice({ price, amount, asset, network }: PreflightOffer): string {
  const priceText = price ?? `${amount ?? '?'} base units of ${asset ?? '?'}`;
  return `${priceText} on ${network === null ? '?' : toNetworkName(network)}`;
}
