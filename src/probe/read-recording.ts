/** Reads recordings, which strangers may have made: nothing but what a scan could have seen passes. */
import { readFile } from 'node:fs/promises';
import { Ajv, type ValidateFunction } from 'ajv';
import { type Static, Type } from 'typebox';
import { OriginRefused } from '../guard/errors.ts';
import { allowingOrigin, DEFAULT_POLICY, parseOrigin } from '../guard/origin.ts';
import { type OriginFacts, recordedObservations } from '../model/observations.ts';
import type { Payability } from '../model/payability.ts';
import { oneOf } from '../model/shapes.ts';
import { cleanText } from '../parse/text/text.ts';
import {
  OLDEST_SCHEMA_VERSION,
  RECORDING_FORMAT,
  RECORDING_SCHEMA_VERSION,
  type Recording,
} from './recording.ts';

/** Longer than any that a scan writes, so that those stay as they are. */
const MAX_TEXT_CHARS = 8_192;

/** The file cannot be replayed; the message says which file, where, and what to do. */
export class RecordingError extends Error {
  override readonly name = 'RecordingError';
}

/** Throws RecordingError. */
export async function readRecording(file: string): Promise<Recording> {
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    throw new RecordingError(`${file}: cannot be read (${message(error)})`);
  });
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new RecordingError(`${file}: not JSON (${message(error)}); make it with --save`);
  }
  return parseRecording(value, file);
}

/** A foreign file is refused by name and place. */
const recordingSchema = Type.Object({
  format: Type.Literal(RECORDING_FORMAT),
  schemaVersion: Type.Union([
    Type.Literal(OLDEST_SCHEMA_VERSION),
    Type.Literal(RECORDING_SCHEMA_VERSION),
  ]),
  /** ISO 8601, UTC: the only "now" of a replay. */
  scannedAt: Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}(?:\\.\\d+)?Z$' }),
  exhausted: Type.Optional(Type.Array(oneOf(['origin', 'standing']), { minItems: 1 })),
  observations: recordedObservations,
});
type Stored = Static<typeof recordingSchema>;

/** Compiles the schema for the first recording, and once. Making its code shorter takes longer than running it. */
const storedRecording = (() => {
  let validate: ValidateFunction<Stored> | null = null;
  return () => {
    validate ??= new Ajv({ code: { optimize: false } }).compile<Stored>(recordingSchema);
    return validate;
  };
})();

/** Throws RecordingError, which names the recording as `name`. */
export function parseRecording(value: unknown, name: string): Recording {
  const validate = storedRecording();
  if (validate(value)) {
    if (isCanonical(value.observations.origin)) return completed(value);
    // Not quoted: it may be text for a terminal, and its author is unknown.
    const why = '/observations/origin is not an origin as a scan writes it';
    throw new RecordingError(`${name}: ${why}; make it with --save`);
  }
  const first = validate.errors?.[0];
  throw new RecordingError(
    `${name}: no recording of schema version ${RECORDING_SCHEMA_VERSION} ` +
      `(${first?.instancePath || '/'} ${first?.message ?? 'is wrong'}); make it with --save`,
  );
}

/** Reports print the origin: nothing but what a scan could have been of passes. */
function isCanonical({ url, scheme, hostname, port, host }: OriginFacts): boolean {
  try {
    // A replay sends nothing, so the host need not be allowed.
    const origin = parseOrigin(url, allowingOrigin(url, DEFAULT_POLICY));
    const isSame = origin.scheme === scheme && origin.hostname === hostname && origin.host === host;
    return isSame && origin.url === url && origin.port === port;
  } catch (error) {
    if (error instanceof OriginRefused) return false;
    throw error;
  }
}

/** Recordings of version 1 say nothing of clients. */
function completed({ observations, ...rest }: Stored): Recording {
  const payability = observations.payability ? cleanPayability(observations.payability) : null;
  return { ...rest, observations: { ...observations, payability } };
}

/**
 * A report prints payability as it is: a scan cleans the texts in it, the author of a file may not have.
 */
function cleanPayability(payability: Payability): Payability {
  return JSON.parse(JSON.stringify(payability), (_name, value: unknown) =>
    typeof value === 'string' ? cleanText(value, MAX_TEXT_CHARS) : value,
  );
}

function message(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
