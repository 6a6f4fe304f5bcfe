import type { Advice } from '../model/advice.ts';
import type { IndexedDifference, IndexedReason, IndexedRow } from '../model/indexed.ts';
import type {
  ClientVersion,
  OfferPayability,
  OtherWay,
  ResourcePayability,
} from '../model/payability.ts';
import type { BudgetName, CheckResult, ScanReport } from '../model/report.ts';
import type { FreeRoute, PaidRoute, RouteFacts, RouteOffer } from '../model/routes.ts';
import type { FinishedScan } from '../scan/finished-scan.ts';
import { reportUrl } from './report-url.ts';

/** The body of a scan or report answer (interface spec 2.2). Lists are copies. */
export type ReportBody = Omit<ScanReport, 'subScores' | 'results' | 'exhausted' | OfClients> & {
  readonly exhausted?: BudgetName[];
  readonly results: CheckResult[];
  readonly payability: PayabilityEntry[] | null;
  readonly payableBy: ScanReport['payableBy'];
  readonly clients: ClientVersion[];
  readonly otherWays: OtherWayEntry[];
  readonly advice: Advice[];
  readonly routes?: RoutesEntry;
  readonly indexed: IndexedEntry[];
  /** `miss` where this call ran or joined the scan. */
  readonly cache: 'hit' | 'miss';
  readonly reportUrl: string;
  readonly charged?: true;
};

type OfClients =
  | 'payability'
  | 'payableBy'
  | 'clients'
  | 'otherWays'
  | 'advice'
  | 'routes'
  | 'indexed';
type OtherWayEntry = Omit<OtherWay, 'methods'> & { readonly methods: string[] };
type IndexedEntry = Omit<IndexedRow, 'differences' | 'reasons'> & {
  readonly differences: IndexedDifference[];
  readonly reasons: IndexedReason[];
};
type PayabilityEntry = Omit<ResourcePayability, 'offers'> & {
  readonly offers: OfferPayability[];
};

type RoutesEntry = Pick<RouteFacts, 'isComplete'> & {
  readonly paid: (Omit<PaidRoute, 'offers'> & { readonly offers: RouteOffer[] })[];
  readonly signIn: FreeRoute[];
  readonly free: FreeRoute[];
};

export type ReportPresentation = {
  readonly cache: 'hit' | 'miss';
  readonly siteUrl: string;
  /** True for a paid answer in a revision with `reportSaysCharged`. */
  readonly saysCharged: boolean;
};

export function toReportBody(scan: FinishedScan, presentation: ReportPresentation): ReportBody {
  const { origin, grade, score, checksVersion, scannedAt, results, exhausted } = scan.report;
  const { payability, payableBy, clients, otherWays, advice, routes, indexed } = scan.report;
  const { cache, siteUrl, saysCharged } = presentation;
  return {
    origin,
    grade,
    score,
    cache,
    checksVersion,
    scannedAt,
    reportUrl: reportUrl(siteUrl, scan.host),
    ...(saysCharged ? { charged: true } : {}),
    ...(exhausted ? { exhausted: [...exhausted] } : {}),
    payableBy,
    payability: payability?.map((one) => ({ ...one, offers: [...one.offers] })) ?? null,
    clients: [...clients],
    // Reports that an earlier release stored have neither these nor rows of indexes.
    otherWays: (otherWays ?? []).map((way) => ({ ...way, methods: [...way.methods] })),
    advice: [...advice],
    ...(routes ? { routes: routesEntry(routes) } : {}),
    indexed: (indexed ?? []).map(toIndexedEntry),
    results: [...results],
  };
}

function routesEntry({ paid, signIn, free, isComplete }: RouteFacts): RoutesEntry {
  return {
    paid: paid.map((one) => ({ ...one, offers: [...one.offers] })),
    signIn: [...signIn],
    free: [...free],
    isComplete,
  };
}

function toIndexedEntry({ differences, reasons, ...row }: IndexedRow): IndexedEntry {
  return { ...row, differences: [...differences], reasons: [...reasons] };
}
