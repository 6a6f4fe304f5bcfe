/** The library: the engine that grades on the command line and in the service, in your program. */
export type { CheckResult, Grade, ScanReport, Severity, SubScores } from '../model/report.ts';
export { type JudgeOptions, judge } from './judge.ts';
export { type ScanOptions, scan } from './scan.ts';
