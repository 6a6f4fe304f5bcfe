import { hash } from 'node:crypto';
import { type EnvelopeProof, toCanonicalJson } from '../scanner/attestation/envelope.ts';
import type { SignedReport } from '../scanner/attestation/statement.ts';
import { listCatalogs, readCatalog } from '../scanner/engine/catalog/catalog.ts';
import type { JsonValue } from '../scanner/model/json.ts';
import type { ScanReport } from '../scanner/model/report.ts';
import { parseRecording, RecordingError } from '../scanner/probe/read-recording.ts';
import type { Recording } from '../scanner/probe/recording.ts';
import { judgeRecording, startEngine } from './engine.ts';
import { readJson } from './io.ts';

/**
 * Proves that the report fits its recording: the digest of the observations is the signed digest, and the
 * observations, judged again, give the same results. Throws UsageError if the file is not JSON.
 */
export async function proveRecording(file: string, signed: SignedReport): Promise<EnvelopeProof> {
  const { report, catalog, observationsSha256 } = signed;
  const value = await readJson(file, `--recording ${file}`);
  const sha256 = hash('sha256', toCanonicalJson(readMember(value, 'observations')), 'hex');
  if (sha256 !== observationsSha256) {
    return toRefusal(
      `the recording has other observations: their digest is ${sha256}, not ${observationsSha256}`,
    );
  }
  const scannedAt = readMember(value, 'scannedAt');
  if (scannedAt !== report.scannedAt) {
    return toRefusal(`the recording is of ${String(scannedAt)}, the report of ${report.scannedAt}`);
  }
  const catalogProblem = await findCatalogProblem(catalog);
  if (catalogProblem !== null) return toRefusal(catalogProblem);
  if (catalog.checksVersion !== report.checksVersion) {
    return toRefusal(
      `the report names catalog ${report.checksVersion}, the statement ${catalog.checksVersion}`,
    );
  }
  try {
    const newReport = await judgeAgain(parseRecording(value, file), catalog.checksVersion);
    return compareReports(newReport, report);
  } catch (error) {
    if (error instanceof RecordingError) return toRefusal(error.message);
    throw error;
  }
}

function readMember(value: JsonValue, name: string): JsonValue {
  if (typeof value !== 'object' || value === null) return null;
  return Object.entries(value).find(([member]) => member === name)?.[1] ?? null;
}

/** Says why the results cannot be judged again here; null if they can. */
async function findCatalogProblem(catalog: SignedReport['catalog']): Promise<string | null> {
  const { checksVersion, digest } = catalog;
  const versions = await listCatalogs();
  if (!versions.includes(checksVersion)) {
    return `this x402-scan has no catalog ${checksVersion}, only ${versions.join(', ')}: use a newer one`;
  }
  const ownCatalog = await readCatalog(checksVersion);
  return ownCatalog.digest === digest
    ? null
    : `the catalog ${checksVersion} differs: its digest is ${digest}, here ${ownCatalog.digest}`;
}

async function judgeAgain(recording: Recording, checksVersion: string): Promise<ScanReport> {
  const engine = await startEngine(checksVersion);
  try {
    return (await judgeRecording(recording, engine)).report;
  } finally {
    await engine.pool.close();
  }
}

function compareReports(newReport: ScanReport, report: SignedReport['report']): EnvelopeProof {
  const changedIds = newReport.results
    .filter((result, index) => !isSame(result, report.results[index] ?? null))
    .map(({ id }) => id);
  if (changedIds.length > 0)
    return toRefusal(
      `judged again, ${changedIds.join(', ')} ${changedIds.length === 1 ? 'differs' : 'differ'}`,
    );
  const { length } = newReport.results;
  if (report.results.length !== length) {
    return toRefusal(`the report has ${report.results.length} results, not ${length}`);
  }
  if (newReport.grade !== report.grade || newReport.score !== report.score) {
    return toRefusal(`judged again, the grade is ${newReport.grade} ${newReport.score}`);
  }
  return {
    isProved: true,
    message: `its digest, its time, and all ${length} results again, byte for byte`,
  };
}

function isSame(a: JsonValue, b: JsonValue): boolean {
  return toCanonicalJson(a) === toCanonicalJson(b);
}

function toRefusal(message: string): EnvelopeProof {
  return { isProved: false, message };
}
