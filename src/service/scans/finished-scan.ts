/** The options of callers of a scan, the finished scan that they get, and its published form. */

import type { JsonObject } from '../../scanner/model/json.ts';
import { TLS_FAILURES } from '../../scanner/model/observation.ts';
import type { HttpObservation, Observations } from '../../scanner/model/observations.ts';
import type {
  DayWord,
  OfferPayability,
  PaidBy,
  PayableState,
  PriceFrom,
} from '../../scanner/model/payability.ts';
import type { Branding, CheckResult, ScanReport, Signals } from '../../scanner/model/report.ts';
import { findKnownAsset } from '../../scanner/parse/x402/assets.ts';
import { isKnownNetwork, toCaip2 } from '../../scanner/parse/x402/networks.ts';
import { findSchemeRow, SCHEMES } from '../../scanner/parse/x402/schemes.ts';
import type { DeclaredSale } from '../../scanner/probe/plan/plan.ts';
import { findCheapest, toOfferPrice } from '../../scanner/report/answer-line.ts';
import type { Scanner } from '../../scanner/scan/scanner.ts';
import type { PublishedScan } from '../store/published-scan.ts';
import type { ScanResult, StoredRecording } from '../store/results.ts';
import { ORIGINS_COUNTER, type Tally } from '../store/statistics.ts';
import type { Store } from '../store/store.ts';

/** The findings of a scan in the form that the store keeps. */
export type ScanFindings = {
  readonly report: ScanReport;
  readonly branding: Branding;
  readonly signals: Signals;
  /** False if the origin answered no request. */
  readonly reached: boolean;
  /** True if the scan could not judge the origin, such as after answers of 429 only. Census and watches ignore such scans. */
  readonly rateLimited: boolean;
  /** The word that the scan gives its day, such as `payable`. */
  readonly dayWord: DayWord;
  /** The operations that the origin's documents sell; absent in scans of older releases. */
  readonly sold?: readonly DeclaredSale[] | undefined;
  /** The version of the program that scanned; absent in scans of older releases. */
  readonly scannerVersion?: string | undefined;
  /** Digest of the canonical observations; null if they could not be digested. */
  readonly observationsSha256: string | null;
};

/** A finished scan, stored privately for its payer; publishing needs a payment. */
export type FinishedScan = ScanFindings & {
  /** Random, new for every scan. */
  readonly scanId: string;
  /** Canonical host. */
  readonly host: string;
  /** Stores the recording and returns it. Absent in scans that were read from the store. */
  readonly keepRecording?: () => Promise<StoredRecording>;
};

export type JoinOptions = {
  /** Called with the scan's id once it is known. */
  readonly onScan?: ((scanId: string) => void) | undefined;
  /** True to keep the scan's recording, for `provideRecording`. */
  readonly withRecording?: boolean | undefined;
  /**
   * True if nobody pays. Free scans have a limit of their own. They are refused as Saturated while paid
   * scans use half of the paid limit. A paying caller may join a free scan.
   */
  readonly isFree?: boolean | undefined;
};

export type ScanRunOptions = JoinOptions & {
  /** The URL as the caller wrote it; stored and purged with the result. */
  readonly submittedUrl?: string | undefined;
  /** Finds this caller's finished scan of any instance, under the lease, so that no instance repeats a scan. */
  readonly findEarlierScan?: (() => Promise<FinishedScan | null>) | undefined;
  /**
   * Replaces the service's own scanner. Such a scan is separate: it uses no other caller's result, and no
   * other caller gets its result. It ends as Saturated as soon as somebody pays for a scan of the same host.
   */
  readonly scanner?: Pick<Scanner, 'scan'> | undefined;
};

export type ScanCoordinatorOptions = {
  readonly scanner: Scanner;
  readonly store: Store;
  /** Facts that are stored with every published scan, such as the name of the scoring. */
  readonly catalogFacts: JsonObject;
  readonly maxScans?: number | undefined;
  readonly onPublished?: ((host: string) => void) | undefined;
  /** Called with errors of scans, because every caller may have left by then. */
  readonly onError?: ((error: unknown) => void) | undefined;
};

export function fromStoredReport({ scanId, host, report }: ScanResult): FinishedScan {
  // `ScanCoordinator` is the only writer of this document, and the store keeps it unchanged.
  return { scanId, host, ...(report as unknown as ScanFindings) };
}

/** Selects the public part of a finished scan. `catalogFacts` are stored with it. */
export function toPublishedScan(
  scan: FinishedScan,
  catalogFacts: JsonObject,
  paidBy: PaidBy = 'payer',
): PublishedScan {
  const { report } = scan;
  const count = (status: CheckResult['status']) =>
    report.results.filter((result) => result.status === status).length;
  return {
    scanId: scan.scanId,
    host: scan.host,
    scannedAtMs: Date.parse(report.scannedAt),
    grade: report.grade,
    score: report.score,
    counts: { pass: count('pass'), warn: count('warn'), fail: count('fail') },
    subScores: report.subScores,
    checksVersion: report.checksVersion,
    catalog: catalogFacts,
    branding: scan.branding,
    signals: scan.signals,
    reached: scan.reached,
    paidBy,
    payableBy: toPayableState(report),
    scannerVersion: scan.scannerVersion,
    priceFrom: findPriceFrom(report),
  };
}

function toPayableState({ payableBy }: Pick<ScanReport, 'payableBy'>): PayableState {
  return payableBy ?? 'noChallenge';
}

/** The lowest price that a client can pay, if need be with its limits raised; null if no known asset is asked for. */
function findPriceFrom({ payability }: Pick<ScanReport, 'payability'>): PriceFrom | null {
  const { offer } = findCheapest(payability ?? [], ['signs', 'limited']) ?? {};
  const { amount = null, asset = null, network = null } = offer ?? {};
  return amount === null || asset === null || network === null ? null : { amount, asset, network };
}

/** Replaces every unknown name. Otherwise an origin could publish any text as a name. */
const OTHER = 'other';

const KNOWN_SCHEMES: ReadonlySet<string> = new Set(SCHEMES.map(({ scheme }) => scheme));

/**
 * The counters that a host raises on a day: "origins", "grade A", "payable default", "check P1 pass",
 * "scheme exact", "network eip155:8453", "asset 0x…", "price 0.05".
 */
export function toTally(report: ScanReport): Tally {
  const offers = (report.payability ?? []).flatMap((resource) => resource.offers);
  const price = findMedianPrice(offers);
  const names = [
    ORIGINS_COUNTER,
    `grade ${report.grade}`,
    `payable ${toPayableState(report)}`,
    ...report.results.map((result) => `check ${result.id} ${toCounterStatus(result)}`),
    ...offers.flatMap((offer) => [
      `scheme ${toKnownScheme(offer)}`,
      `network ${toKnownNetwork(offer)}`,
      `asset ${toKnownAsset(offer)}`,
    ]),
    ...(price === null ? [] : [`price ${price}`]),
  ];
  // A host raises each counter at most once a day.
  return [...new Set(names)];
}

function toCounterStatus({ basis, status }: CheckResult) {
  return basis === 'not_determined' ? 'notDetermined' : status;
}

function toKnownScheme({ scheme }: OfferPayability): string {
  return scheme !== null && KNOWN_SCHEMES.has(scheme) ? scheme : OTHER;
}

function toKnownNetwork({ network }: OfferPayability): string {
  return network !== null && isKnownNetwork(network) ? toCaip2(network) : OTHER;
}

function toKnownAsset({ network, asset }: OfferPayability): string {
  if (network === null || asset === null) return OTHER;
  return findKnownAsset(network, asset)?.asset ?? OTHER;
}

/** Returns the host's median price, so that a host with many resources counts as one price. */
function findMedianPrice(offers: readonly OfferPayability[]): number | null {
  const prices = offers
    .filter(({ scheme, network }) => findSchemeRow(scheme ?? '', network ?? '')?.amount === 'price')
    .map((offer) => toOfferPrice(offer)?.dollars ?? 0)
    .filter((dollars) => dollars > 0)
    .toSorted((a, b) => a - b);
  const middle = prices[Math.floor((prices.length - 1) / 2)];
  // Two digits keep the error below 5 %.
  return middle === undefined ? null : Number(middle.toPrecision(2));
}

/** Failures of a peer that accepted a connection and sent something, but no valid answer. */
const ANSWERED_REASONS: ReadonlySet<string> = new Set([
  ...TLS_FAILURES,
  'malformed',
  'redirect-loop',
  'redirect-refused',
]);

/** False if the origin answered no request. Its host may then be a typing error, which no list should show. */
export function hasAnswered(observations: Observations): boolean {
  return listAnswers(observations).some(
    (answer) => answer.ok || ANSWERED_REASONS.has(answer.reason),
  );
}

/** True if the origin answered only with 429, so that the scan learned nothing about it. */
export function hasOnly429(observations: Observations): boolean {
  const answers = listAnswers(observations).filter((answer) => answer.ok);
  return answers.length > 0 && answers.every(({ data }) => data.status === 429);
}

function listAnswers(observations: Observations): readonly HttpObservation[] {
  return [
    observations.root,
    observations.soft404,
    observations.openapi,
    ...observations.openapiAlternates.map(({ answer }) => answer),
    observations.manifest,
    observations.manifestJson,
    observations.llmsTxt,
    observations.agentCard,
    observations.agentJson,
    observations.robots,
    ...observations.resources.probed.flatMap(({ probes }) => probes.map(({ answer }) => answer)),
  ];
}
