/** Reads recordings. A stranger may have written one, so only observations that a scan could make are accepted. */
import { readFile } from 'node:fs/promises';
import { Ajv, type ValidateFunction } from 'ajv';
import { type Static, Type } from 'typebox';
import { OriginRefused } from '../guard/failures.ts';
import { allowOrigin, DEFAULT_POLICY, parseOrigin } from '../guard/origin.ts';
import { type OriginFacts, recordedObservations } from '../model/observations.ts';
import { PAYABLE_BY } from '../model/payability.ts';
import { messageOf } from '../model/redact.ts';
import { count, nullable, oneOf, shape, text } from '../model/shapes.ts';
import { cleanText } from '../parse/text/text.ts';
import {
  OLDEST_SCHEMA_VERSION,
  RECORDING_FORMAT,
  RECORDING_SCHEMA_VERSION,
  type Recording,
} from './recording.ts';

/** Longer than any text of a scan, so that texts of real scans stay unchanged. */
const MAX_TEXT_CHARS = 8_192;

/** The file cannot be replayed. The message names the file, the place in it, and what to do. */
export class RecordingError extends Error {
  override readonly name = 'RecordingError';
}

/** Throws RecordingError. */
export async function readRecording(file: string): Promise<Recording> {
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    throw new RecordingError(`${file}: cannot be read (${messageOf(error)})`);
  });
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new RecordingError(`${file}: not JSON (${messageOf(error)}); make it with --save`);
  }
  return parseRecording(value, file);
}

const recordingSchema = Type.Object({
  format: Type.Literal(RECORDING_FORMAT),
  schemaVersion: Type.Union([
    Type.Literal(OLDEST_SCHEMA_VERSION),
    Type.Literal(RECORDING_SCHEMA_VERSION),
  ]),
  /** ISO 8601, UTC: the only "now" of a replay. */
  scannedAt: Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}(?:\\.\\d+)?Z$' }),
  exhausted: Type.Optional(Type.Array(oneOf(['origin', 'standing']), { minItems: 1 })),
  named: Type.Optional(
    shape({
      method: text,
      path: text,
      status: nullable(count),
      payableBy: nullable(oneOf(PAYABLE_BY)),
      words: text,
    }),
  ),
  observations: recordedObservations,
});
type StoredRecording = Static<typeof recordingSchema>;

/** Compiles the schema at first use. Optimizing its code would take longer than it saves. */
const getValidator = (() => {
  let validate: ValidateFunction<StoredRecording> | null = null;
  return () => {
    validate ??= new Ajv({ code: { optimize: false } }).compile<StoredRecording>(recordingSchema);
    return validate;
  };
})();

/** Throws RecordingError, which names the recording as `name`. */
export function parseRecording(value: unknown, name: string): Recording {
  const validate = getValidator();
  if (validate(value)) {
    if (isCanonical(value.observations.origin)) return cleanRecording(value);
    // The origin is not quoted, because a stranger may have put terminal codes into it.
    const why = '/observations/origin is not an origin as a scan writes it';
    throw new RecordingError(`${name}: ${why}; make it with --save`);
  }
  const first = validate.errors?.[0];
  throw new RecordingError(
    `${name}: no recording of schema version ${RECORDING_SCHEMA_VERSION} ` +
      `(${first?.instancePath || '/'} ${first?.message ?? 'is wrong'}); make it with --save`,
  );
}

/** True if a scan could have written this origin. Reports print it, so other texts are refused. */
function isCanonical({ url, scheme, hostname, port, host }: OriginFacts): boolean {
  try {
    // A replay sends nothing, so the host need not be allowed.
    const origin = parseOrigin(url, allowOrigin(url, DEFAULT_POLICY));
    const isSame = origin.scheme === scheme && origin.hostname === hostname && origin.host === host;
    return isSame && origin.url === url && origin.port === port;
  } catch (error) {
    if (error instanceof OriginRefused) return false;
    throw error;
  }
}

/** Cleans the texts that a report prints. Recordings of version 1 hold no payability. */
function cleanRecording({ observations, named, ...rest }: StoredRecording): Recording {
  const payability = observations.payability ? cleanTexts(observations.payability) : null;
  return {
    ...rest,
    ...(named ? { named: cleanTexts(named) } : {}),
    observations: { ...observations, payability },
  };
}

/** Cleans the texts as a scan does. A report prints them, and a stranger's file may hold terminal codes. */
function cleanTexts<T>(values: T): T {
  return JSON.parse(JSON.stringify(values), (_name, value: unknown) =>
    typeof value === 'string' ? cleanText(value, MAX_TEXT_CHARS) : value,
  );
}
