import type { ScanReport } from '../../model/report.ts';
import { parseRecording } from '../../probe/read-recording.ts';
import { judgeRecording, startEngine } from '../engine.ts';

export type JudgeOptions = {
  /** "2026-08-14.2"; default the newest. */
  readonly checksVersion?: string;
  /** Aborts with the signal's reason. */
  readonly signal?: AbortSignal;
};

/**
 * Judges the observations of an earlier scan; the same recording gives the same report, byte for byte.
 * `recording` is the parsed JSON of a file that `x402-scan scan --save FILE` wrote.
 * Throws RecordingError if it is none, Error if there is no such catalog.
 */
export async function judge(recording: unknown, options: JudgeOptions = {}): Promise<ScanReport> {
  const recorded = parseRecording(recording, 'the recording');
  const engine = await startEngine(options.checksVersion ?? null, 'checksVersion');
  try {
    return (await judgeRecording(recorded, engine, options.signal)).report;
  } finally {
    await engine.pool.close();
  }
}
