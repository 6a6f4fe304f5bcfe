import { hash } from 'node:crypto';
import { toCanonicalJson } from '../attestation/envelope.ts';
import type { EnvelopeProof, SignedReport } from '../attestation/prove-envelope.ts';
import { listCatalogs, readCatalog } from '../engine/catalog/catalog.ts';
import type { JsonValue } from '../model/json.ts';
import type { ScanReport } from '../model/report.ts';
import { parseRecording, RecordingError } from '../probe/read-recording.ts';
import type { Recording } from '../probe/recording.ts';
import { judgeRecording, startEngine } from './engine.ts';
import { readJson } from './io.ts';

/**
 * Proves that the report says what its recording shows: the digest is that of the observations, and judged
 * again they give the same results. Throws UsageError if the file is not JSON.
 */
export async function proveRecording(file: string, signed: SignedReport): Promise<EnvelopeProof> {
  const { report, catalog, observationsSha256 } = signed;
  const value = await readJson(file, `--recording ${file}`);
  const sha256 = hash('sha256', toCanonicalJson(memberOf(value, 'observations')), 'hex');
  if (sha256 !== observationsSha256) {
    return refused(`other observations: their digest is ${sha256}, not ${observationsSha256}`);
  }
  const scannedAt = memberOf(value, 'scannedAt');
  if (scannedAt !== report.scannedAt) {
    return refused(`the recording is of ${String(scannedAt)}, the report of ${report.scannedAt}`);
  }
  const why = await unknownCatalog(catalog);
  if (why !== null) return refused(why);
  if (catalog.checksVersion !== report.checksVersion) {
    return refused(
      `the report is by ${report.checksVersion}, its catalog ${catalog.checksVersion}`,
    );
  }
  try {
    return compare(await judgeAgain(parseRecording(value, file), catalog.checksVersion), report);
  } catch (error) {
    if (error instanceof RecordingError) return refused(error.message);
    throw error;
  }
}

function memberOf(value: JsonValue, name: string): JsonValue {
  if (typeof value !== 'object' || value === null) return null;
  return Object.entries(value).find(([member]) => member === name)?.[1] ?? null;
}

/** Says why the results cannot be made again here; null if they can. */
async function unknownCatalog({
  checksVersion,
  digest,
}: SignedReport['catalog']): Promise<string | null> {
  const versions = await listCatalogs();
  if (!versions.includes(checksVersion)) {
    return `this x402-scan has no catalog ${checksVersion}, only ${versions.join(', ')}: use a newer one`;
  }
  const own = await readCatalog(checksVersion);
  return own.digest === digest
    ? null
    : `another catalog ${checksVersion}: its digest is ${digest}, here ${own.digest}`;
}

async function judgeAgain(recording: Recording, checksVersion: string): Promise<ScanReport> {
  const engine = await startEngine(checksVersion);
  try {
    return (await judgeRecording(recording, engine)).report;
  } finally {
    await engine.pool.close();
  }
}

function compare(again: ScanReport, report: SignedReport['report']): EnvelopeProof {
  const moved = again.results
    .filter((result, at) => !isSame(result, report.results[at] ?? null))
    .map(({ id }) => id);
  if (moved.length > 0)
    return refused(
      `judged again, ${moved.join(', ')} ${moved.length === 1 ? 'differs' : 'differ'}`,
    );
  const { length } = again.results;
  if (report.results.length !== length) {
    return refused(`the report has ${report.results.length} results, not ${length}`);
  }
  if (again.grade !== report.grade || again.score !== report.score) {
    return refused(`judged again, the grade is ${again.grade} ${again.score}`);
  }
  return {
    isProved: true,
    says: `its digest, its time, and all ${length} results again, byte for byte`,
  };
}

function isSame(one: JsonValue, other: JsonValue): boolean {
  return toCanonicalJson(one) === toCanonicalJson(other);
}

function refused(says: string): EnvelopeProof {
  return { isProved: false, says };
}
