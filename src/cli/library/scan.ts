import { createOracle } from '../../buyers/create-oracle.ts';
import { parseOrigin } from '../../guard/origin.ts';
import type { ScanReport } from '../../model/report.ts';
import { OFFLINE_STANDING } from '../../model/standing.ts';
import { scannerUserAgent } from '../../probe/client/user-agent.ts';
import { parseRecording } from '../../probe/read-recording.ts';
import { createScanner } from '../../scan/run-scan.ts';
import { policyFor } from '../allow-private.ts';
import { judgeRecording, startEngine } from '../engine.ts';

export type ScanOptions = {
  /** True: http, private and loopback addresses, and any port, are allowed for this one origin; default false. */
  readonly allowPrivate?: boolean;
  /** True: no index is asked, and the standing checks are `not_determined`; default false. */
  readonly offline?: boolean;
  /** "2026-08-14.2"; default the newest. */
  readonly checksVersion?: string;
  /** Aborts with the signal's reason. */
  readonly signal?: AbortSignal;
};

/**
 * `origin` is an https URL or a bare host. An unreachable origin gets a report with grade F. Throws
 * OriginRefused if the guard refuses the origin, ScannerFailure if our own code fails, and Error if there is no
 * catalog `checksVersion`.
 */
export async function scan(origin: string, options: ScanOptions = {}): Promise<ScanReport> {
  const { allowPrivate = false, offline = false, checksVersion, signal } = options;
  const policy = policyFor(origin, allowPrivate);
  const parsedOrigin = parseOrigin(origin, policy);
  // Clients of blockchains load slowly, and an offline scan does not need them.
  const standing = offline
    ? OFFLINE_STANDING
    : (await import('../standing.ts')).createCliStanding(process.env);
  const engine = await startEngine(checksVersion ?? null, 'checksVersion');
  const scanner = createScanner({
    ...engine,
    policy,
    standing,
    userAgent: scannerUserAgent('library'),
    oracle: createOracle(),
  });
  try {
    const { report } = await scanner.scan(parsedOrigin, signal ? { signal } : {});
    return report;
  } finally {
    await scanner.close();
    await engine.pool.close();
  }
}

export type JudgeOptions = {
  /** "2026-08-14.2"; default the newest. */
  readonly checksVersion?: string;
  /** Aborts with the signal's reason. */
  readonly signal?: AbortSignal;
};

/**
 * Judges the observations of an earlier scan. The same recording gives the same report, byte for byte.
 * `recording` is the parsed JSON of a file that `x402-scan scan --save FILE` wrote.
 * Throws RecordingError if it is not a recording, and Error if there is no catalog `checksVersion`.
 */
export async function judge(recording: unknown, options: JudgeOptions = {}): Promise<ScanReport> {
  const parsedRecording = parseRecording(recording, 'the recording');
  const engine = await startEngine(options.checksVersion ?? null, 'checksVersion');
  try {
    return (await judgeRecording(parsedRecording, engine, options.signal)).report;
  } finally {
    await engine.pool.close();
  }
}
