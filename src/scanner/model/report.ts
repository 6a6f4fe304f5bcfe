import type { IndexedRow } from './indexed.ts';
import type { ClientVersion, OtherWay, PayableBy, ResourcePayability } from './payability.ts';
import type { Verdict } from './verdict.ts';

/** The hosted service judges by this catalog, unless its settings name another one. A newer catalog may exist. */
export const SERVICE_CHECKS_VERSION = '2026-08-14.2';

export type Severity = 'critical' | 'major' | 'minor';
export type CategoryKey = 'protocol' | 'docs' | 'directory';
/** Best first. */
export const ALL_GRADES = ['A', 'B', 'C', 'D', 'F'] as const;
export type Grade = (typeof ALL_GRADES)[number];

export type CheckResult = Verdict & {
  readonly id: string;
  readonly title: string;
  readonly category: CategoryKey;
  readonly severity: Severity;
};

/** Processor time has two budgets: one for the origin's documents, one for the answers of third parties. */
export type BudgetName = 'origin' | 'standing';

/** A score is null if no check of its category was determined. `standing` is the score of the category `directory`. */
export type SubScores = {
  readonly protocol: number | null;
  readonly docs: number | null;
  readonly standing: number | null;
};

/** The scan report of interface spec 2.2. The service adds cache, reportUrl and charged. */
export type ScanReport = {
  readonly origin: string;
  readonly grade: Grade;
  /** 0 to 100 */
  readonly score: number;
  readonly subScores: SubScores;
  readonly checksVersion: string;
  /** ISO 8601, UTC; the scan's start. */
  readonly scannedAt: string;
  /** One result for each check, in catalog order. */
  readonly results: readonly CheckResult[];
  /** The official clients' verdicts on each paid resource; null in reports that predate this member. */
  readonly payability: readonly ResourcePayability[] | null;
  /** The value of the best resource; null if no challenge was seen. */
  readonly payableBy: PayableBy | null;
  /** The official clients that tried the challenges. */
  readonly clients: readonly ClientVersion[];
  /** Other protocols that the origin sells over. */
  readonly otherWays: readonly OtherWay[];
  /** Ungraded findings, in the order of ADVICE_IDS. */
  readonly advice: readonly Advice[];
  /** Paid and free routes; null when they could not be read, absent in reports that predate this member. */
  readonly routes?: RouteFacts | null;
  /** Ungraded index entries of each paid resource; empty if no index is asked. */
  readonly indexed: readonly IndexedRow[];
  /** Spent budgets, whose checks were not judged; absent if no budget was spent. */
  readonly exhausted?: readonly BudgetName[];
};

/** Answer of the path that the caller of the command line names. It moves no grade. */
export type NamedPath = {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  /** Null if there was no answer. */
  readonly status: number | null;
  /** Null if the answer asks for no payment over x402. */
  readonly payableBy: PayableBy | null;
  /** Sentences for people: what the answer was, and who can pay. */
  readonly words: string;
};

/** Unverified text and links of the origin: cleaned, cut, never instructions. */
export type Branding = {
  readonly displayName: string;
  readonly description: string;
  /** One of the directory's categories; "other" if the origin declares no category of the list. */
  readonly category: string;
  readonly iconUrl: string | null;
  readonly ogImageUrl: string | null;
};

/** Interface spec 2.3; `hasRecentSettlement` is true or null, never false. */
export type Signals = {
  readonly registeredIndex: boolean;
  readonly hasRecentSettlement: true | null;
  readonly indexOwnershipVerified: boolean;
  readonly onEcosystemListing: boolean;
};

export type ScanTiming = {
  readonly gatherMs: number;
  readonly judgeMs: number;
  readonly totalMs: number;
  readonly requests: number;
  /** Length of the longest sequence of round trips, not their number. */
  readonly roundTrips: number;
};

export const OTHER_CATEGORY = 'other';

/** The categories of the directory (interface spec 2.3 leaves the list open). */
export const CATEGORIES = [
  'communication',
  'compute',
  'data',
  'developer-tools',
  'media',
  'search',
  'social',
  'storage',
  'travel',
  OTHER_CATEGORY,
] as const;

export type DirectoryCategory = (typeof CATEGORIES)[number];

/** Advice tells a seller about faults that no check grades, because the interface fixes the 25 checks. */
export const ADVICE_IDS = [
  'testnet-only',
  'over-default-limit',
  'under-facilitator-minimum',
  'needs-allowance',
  'signed-offer-differs',
  'sign-in-elsewhere',
  'identifier-required',
  'methods-unseen',
  'pays-before-delivery',
  'hidden-from-browsers',
  'paywall-without-challenge',
  'varies-unsaid',
  'asset-without-code',
  'domain-differs',
  'transfer-reverts',
  'no-token-account',
] as const;
export type AdviceId = (typeof ADVICE_IDS)[number];

export type Advice = {
  readonly id: AdviceId;
  /** Request, JSON pointer and value; quoted short and sanitised. */
  readonly evidence: string;
  /** One imperative line. It never quotes the origin. */
  readonly fix: string;
};

/** Fixes that reports and `explain` show. */
export const ADVICE_FIXES: Readonly<Record<AdviceId, string>> = {
  'testnet-only': 'Offer a main network too: nobody earns anything on test networks.',
  'over-default-limit':
    'State the price in your documents: default clients refuse payments over 1 USD.',
  'under-facilitator-minimum': 'Ask for at least 0.001 USD: facilitators settle nothing smaller.',
  'needs-allowance': 'Offer EIP-3009 too, or sponsor the Permit2 approval by its extension.',
  'signed-offer-differs': 'Sign the offers in accepts, with the same terms.',
  'sign-in-elsewhere': 'Set domain and uri of sign-in-with-x to the host that the client requests.',
  'identifier-required': 'Make payment-identifier optional: many clients do not send one.',
  'methods-unseen': 'Offer a paid GET or POST too: indexes ask for no other method.',
  'pays-before-delivery':
    'Offer the flow authorization too: buyers who pay upfront have no refund if you deliver nothing.',
  'hidden-from-browsers':
    'Send Access-Control-Allow-Origin: * and Access-Control-Expose-Headers: PAYMENT-REQUIRED on the 402.',
  'paywall-without-challenge':
    'Answer 402 with PAYMENT-REQUIRED beside the page too: wallets in browsers read the header.',
  'asset-without-code': 'Name the token of this chain: an address without code cannot move money.',
  'domain-differs': 'Set extra.name and extra.version to the signing domain of the token.',
  'transfer-reverts': 'Name a recipient to whom transfers of this token do not revert.',
  'no-token-account': 'Open the associated token account of the recipient for this token.',
  'varies-unsaid':
    'Send Vary: Accept to scripts and browsers, or caches may give them the wrong answer.',
};

/** One payment option of the challenge, cleaned and cut. A member is null if the challenge lacks it. */
export type ReportOffer = {
  readonly scheme: string | null;
  /** CAIP-2; names of version 1 are converted. */
  readonly network: string | null;
  readonly asset: string | null;
  /** Base units. */
  readonly amount: string | null;
  readonly payTo: string | null;
};

export type ReportRoute = {
  /** Upper case; null when no document or answer states it. */
  readonly method: string | null;
  /**
   * The declared path with the server's base path: "/weather/{city}". Null if no document declares one,
   * because a requested path may be one of many that a route serves.
   */
  readonly template: string | null;
  /** A concrete path of the route, which a scan may have requested. */
  readonly path: string;
  /** The challenge's description, at most 500 characters. */
  readonly description: string | null;
  readonly mimeType: string | null;
  readonly offers: readonly ReportOffer[];
};

export type FreeRoute = { readonly method: string; readonly template: string };

export type RouteFacts = {
  readonly paid: readonly ReportRoute[];
  /** Operations whose 402 asks for a sign-in and not for a payment. */
  readonly signIn: readonly FreeRoute[];
  /** The first OpenAPI operations that are declared free, or that answered 2xx without a payment. */
  readonly free: readonly FreeRoute[];
  /** The first OpenAPI operations that nobody knows to be paid or free. Absent in reports of older versions. */
  readonly unknown?: readonly FreeRoute[];
  /** False if the list of paid routes was cut, or documents could not be read. */
  readonly isComplete: boolean;
};
