import { hash } from 'node:crypto';
import { toCanonicalJson } from '../attestation/envelope.ts';
import type { Recording } from '../probe/recording.ts';

const MAX_RECORDING_BYTES = 4 * 1024 * 1024;

export type RecordInput = {
  readonly recording: Recording;
  /** If false, only the digest is made. */
  readonly withText: boolean;
};

export type RecordedScan = {
  /** Lower-case hex SHA-256 of the canonical JSON of the observations. */
  readonly observationsSha256: string;
  /** The recording as JSON; null if it was not asked for, or has over 4 MiB. */
  readonly text: string | null;
};

/** Runs on a worker thread, because observations may be large. */
export function recordObservations({ recording, withText }: RecordInput): RecordedScan {
  const observationsSha256 = hash('sha256', toCanonicalJson(recording.observations), 'hex');
  const text = withText ? JSON.stringify(recording) : null;
  const isKept = text !== null && Buffer.byteLength(text) <= MAX_RECORDING_BYTES;
  return { observationsSha256, text: isKept ? text : null };
}
