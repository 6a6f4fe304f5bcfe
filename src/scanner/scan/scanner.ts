import { type Origin, toOrigin } from '../guard/origin.ts';
import type { HttpObservation, Observations } from '../model/observations.ts';
import type { Branding, ScanReport, ScanTiming, Signals } from '../model/report.ts';
import type { DeclaredSale } from '../probe/plan/plan.ts';
import type { RecordedScan, RecordInput } from './record-observations.ts';

export type OriginScanOptions = {
  /** Aborted when the caller gives up. */
  readonly signal?: AbortSignal | undefined;
  /**
   * True if the host has a published record. A blocked address is then a finding, and nothing is dialled.
   * By default such a scan is refused.
   */
  readonly hasRecord?: boolean | undefined;
  readonly census?: CensusInstructions | undefined;
  /** Time of the report, ISO 8601 in UTC. By default it is the start of the scan by this machine's clock. */
  readonly scannedAt?: string | undefined;
};

export type CensusInstructions = {
  /** Rows of indexes: candidates by GET, after what the origin declares. */
  readonly listed: readonly CensusResource[];
  /** The name of the census in robots.txt. */
  readonly robotsAgent: string;
  /** The rules of the robots.txt that was read last. The scan obeys them if it gets no robots.txt. */
  readonly lastAllowed: AllowedPaths;
  /** Called right before each request of the scan. If it rejects, the scan sends no request and rejects. */
  readonly beforeRequest: () => Promise<void>;
};

/** By path: true if robots.txt allows it. */
export type AllowedPaths = Readonly<Record<string, boolean>>;

export type CensusResource = {
  readonly method: 'GET' | 'POST';
  /** Path and query. */
  readonly path: string;
};

export type ScanOutcome = {
  readonly report: ScanReport;
  readonly branding: Branding;
  readonly signals: Signals;
  readonly timing: ScanTiming;
  readonly observations: Observations;
  /** The operations that the origin's documents sell; absent in replays. */
  readonly sold?: readonly DeclaredSale[];
};

export type Scanner = {
  /**
   * Resolves the origin's name and refuses blocked addresses, before anything is charged. Throws
   * OriginRefused. A name without addresses is a finding, not a refusal.
   */
  admit(origin: Origin): Promise<void>;
  /**
   * Gathers and judges within 70 s and returns a report. An unanswered request is a finding. Throws
   * ScannerFailure if the fault is ours (503, uncharged), OriginRefused as `admit` does.
   */
  scan(origin: Origin, options?: OriginScanOptions): Promise<ScanOutcome>;
  /** Digests a scan's observations and makes its recording; null if they exceed the limits of a task. */
  record(scan: RecordInput): Promise<RecordedScan | null>;
  /** True while the running scans use all shared memory, so that no scan may start. */
  isSaturated(): boolean;
  close(): Promise<void>;
};

/** The scan failed by our own fault. Nothing is charged, stored or held against the origin. */
export class ScannerFailure extends Error {
  override readonly name = 'ScannerFailure';
}

/** A check or the plan breaks even on a good origin, so this process cannot judge any scan. */
export class BrokenChecks extends ScannerFailure {
  constructor(broken: readonly string[]) {
    super(`${broken.join(', ')} breaks even on a good origin: correct this build.`);
  }
}

const NO_ANSWER: HttpObservation = { ok: false, reason: 'refused', detail: 'not asked', ms: 0 };
const OFF = { state: 'off', why: 'offline' } as const;

/** Observations of an origin that was not asked. Every member is present and empty. */
export const EMPTY_OBSERVATIONS: Observations = {
  origin: toOrigin(new URL('https://not-asked.invalid')),
  probing: { post: true },
  root: NO_ANSWER,
  soft404: NO_ANSWER,
  openapi: NO_ANSWER,
  openapiAlternates: [],
  manifest: NO_ANSWER,
  manifestJson: NO_ANSWER,
  llmsTxt: NO_ANSWER,
  agentCard: NO_ANSWER,
  agentJson: NO_ANSWER,
  robots: NO_ANSWER,
  resources: { probed: [], declared: 0, otherMethods: 0, looked: [] },
  links: { checked: [], found: 0, otherHosts: 0, documents: 0 },
  icons: { checked: [], otherHosts: [], inline: false },
  payability: null,
  x402scan: OFF,
  settlements: OFF,
  listing: OFF,
};
