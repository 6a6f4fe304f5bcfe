import type { ScanReport } from '../../model/report.ts';
import { parseRecording } from '../../probe/read-recording.ts';
import { underCatalog } from '../../probe/recording.ts';
import { judge as judgeObservations } from '../../scan/run-scan.ts';
import { openEngine } from './open-engine.ts';

export type JudgeOptions = {
  /** "2026-08-14.2"; default the newest. */
  readonly checksVersion?: string;
  /** Aborts with the signal's reason. */
  readonly signal?: AbortSignal;
};

/**
 * Judges the observations of an earlier scan; the same recording gives the same report, byte for byte.
 * `recording` is the parsed JSON of a file that `x402-scan scan --save FILE` wrote.
 * Throws RecordingError where it is none, Error where there is no such catalog.
 */
export async function judge(recording: unknown, options: JudgeOptions = {}): Promise<ScanReport> {
  const { scannedAt, exhausted, observations } = parseRecording(recording, 'the recording');
  const engine = await openEngine(options.checksVersion);
  try {
    const seen = underCatalog(observations, engine.catalog.probing);
    const { signal } = options;
    const { report } = await judgeObservations(seen, scannedAt, engine, { exhausted, signal });
    return report;
  } finally {
    await engine.close();
  }
}
