/** The library: scans, judges and preflights by the engine of the command line, for your program. */
export type { CheckResult, Grade, ScanReport, Severity, SubScores } from '../../model/report.ts';
export type {
  Preflight,
  PreflightOffer,
  PreflightReason,
  PreflightTerms,
  PreflightVerdict,
  ReasonCode,
} from '../../preflight/result.ts';
export {
  type PaymentCreation,
  type PreflightHook,
  type PreflightHookOptions,
  type PreflightOptions,
  preflight,
} from './preflight.ts';
export { type JudgeOptions, judge, type ScanOptions, scan } from './scan.ts';
