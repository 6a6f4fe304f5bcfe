/** The engine as hosts and the command line see it. */

import type { Origin } from '../guard/origin.ts';
import type { ScanOutcome } from '../model/scan-outcome.ts';

export type ScanOptions = {
  /** The caller gives up. */
  readonly signal?: AbortSignal | undefined;
  /**
   * The host has a published record: an address that the guard refuses is a finding about it, and
   * nothing is dialled. Default false: it is refused.
   */
  readonly hasRecord?: boolean | undefined;
};

export type Scanner = {
  readonly checksVersion: string;
  /**
   * Resolves the origin's name and refuses blocked addresses, before anything is charged.
   * Throws OriginRefused. A name that does not resolve is no refusal: it is a finding.
   */
  admit(origin: Origin): Promise<void>;
  /**
   * Gathers and judges. Ends within 70 s of its start, with a report: what did not answer is a
   * finding. Throws ScannerFailure where the fault is ours (503, uncharged), OriginRefused as admit.
   */
  scan(origin: Origin, options?: ScanOptions): Promise<ScanOutcome>;
  /** True while the running scans hold all that they may together: none is to begin. */
  isSaturated?(): boolean;
  close(): Promise<void>;
};

/** Our own fault: nothing is charged, stored or held against the origin. */
export class ScannerFailure extends Error {
  override readonly name = 'ScannerFailure';
}
