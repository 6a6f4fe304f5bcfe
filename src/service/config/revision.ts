/** The differences between the two API revisions, as data. Other files should read this data, not revision names. */

import { SERVICE_CHECKS_VERSION } from '../../scanner/model/report.ts';

type FreeOffer = {
  readonly kind: 'free';
  /** Limit for each client; null means no limit. */
  readonly requestsPerMinute: number | null;
};

export type PaidOffer = {
  readonly kind: 'paid';
  /** Base units of USDC, which has 6 decimals. */
  readonly priceBaseUnits: bigint;
  /** Time for which the payer's signature must stay valid. */
  readonly maxTimeoutSeconds: number;
};

export type OperationOffer = FreeOffer | PaidOffer;

export type RevisionName = '0.1.0' | '0.3.0';
export const DEFAULT_REVISION: RevisionName = '0.3.0';

export type Revision = {
  readonly name: RevisionName;
  /** An operation without an offer does not exist in this revision. */
  readonly offers: Readonly<Partial<Record<OperationId, OperationOffer>>>;
  /** True if a scan may be answered with a published result younger than 24 hours. */
  readonly scanServesPublished: boolean;
  /** True if a paid 200 report has `charged: true`. */
  readonly reportSaysCharged: boolean;
  /** True if the catalog lists every check and explains the score. */
  readonly catalogListsChecks: boolean;
  /** True if records have `availability`, reports have `paidBy`, and lists of records can be filtered by `payable`. */
  readonly showsCensus: boolean;
  /** True if records have `payableBy` and `priceFrom`, and lists of records can be filtered by `grade`. */
  readonly showsPayers: boolean;
  readonly defaultChecksVersion: string;
};

/** Limits for each client on a paid route, in every revision. */
export const UNPAID_ANSWERS_PER_MINUTE = 60;
export const PAID_REQUESTS_PER_MINUTE = 120;

/** The offer of documents. No revision of the API states a limit for them. */
export const DOCUMENT_OFFER: FreeOffer = { kind: 'free', requestsPerMinute: 120 };

const FREE_10: FreeOffer = { kind: 'free', requestsPerMinute: 10 };
const FREE_30: FreeOffer = { kind: 'free', requestsPerMinute: 30 };
/** For calls that each send a request to a webhook. */
const FREE_6: FreeOffer = { kind: 'free', requestsPerMinute: 6 };
/** For `/mcp`, which one session of an agent calls many times. */
const FREE_60: FreeOffer = { kind: 'free', requestsPerMinute: 60 };

/** A scan may take over a minute, and the payer's signature must still be valid when the scan ends. */
const SCAN_TIMEOUT_SECONDS = 300;
const LOOKUP_TIMEOUT_SECONDS = 120;

function toPaidOffer(priceBaseUnits: bigint, maxTimeoutSeconds: number): PaidOffer {
  return { kind: 'paid', priceBaseUnits, maxTimeoutSeconds };
}

const OWNER_OFFERS = { verifyStart: FREE_10, verifyConfirm: FREE_10, listing: FREE_10 };

/** The newest revision offers each operation. */
const NEWEST_OFFERS = {
  ...OWNER_OFFERS,
  status: FREE_30,
  checks: FREE_30,
  directory: FREE_30,
  featured: FREE_30,
  project: FREE_30,
  report: FREE_30,
  attestation: FREE_30,
  watch: FREE_10,
  watchStatus: FREE_30,
  watchTest: FREE_6,
  watchStop: FREE_10,
  preflight: FREE_30,
  statistics: FREE_30,
  feed: DOCUMENT_OFFER,
  mcp: FREE_60,
  scan: toPaidOffer(50_000n, SCAN_TIMEOUT_SECONDS),
  export: toPaidOffer(100_000n, LOOKUP_TIMEOUT_SECONDS),
  changes: toPaidOffer(30_000n, LOOKUP_TIMEOUT_SECONDS),
} satisfies Readonly<Record<string, OperationOffer>>;

/** OpenAPI operation ids. The revision decides which operations exist, their prices and their rate limits. */
export type OperationId = keyof typeof NEWEST_OFFERS;

export const REVISIONS: Readonly<Record<RevisionName, Revision>> = {
  '0.1.0': {
    name: '0.1.0',
    offers: {
      ...OWNER_OFFERS,
      status: FREE_10,
      checks: FREE_10,
      directory: FREE_30,
      featured: FREE_30,
      project: FREE_30,
      scan: toPaidOffer(150_000n, SCAN_TIMEOUT_SECONDS),
      report: toPaidOffer(20_000n, LOOKUP_TIMEOUT_SECONDS),
    },
    scanServesPublished: true,
    reportSaysCharged: false,
    catalogListsChecks: false,
    showsCensus: false,
    showsPayers: false,
    defaultChecksVersion: '2026-07-25.1',
  },
  '0.3.0': {
    name: '0.3.0',
    offers: NEWEST_OFFERS,
    scanServesPublished: false,
    reportSaysCharged: true,
    catalogListsChecks: true,
    showsCensus: true,
    showsPayers: true,
    defaultChecksVersion: SERVICE_CHECKS_VERSION,
  },
};
