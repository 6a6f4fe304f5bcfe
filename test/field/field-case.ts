/** A case from the field: what somebody reported, the seller rebuilt, and what a user should be told. */
import { readdir, readFile } from 'node:fs/promises';
import type { JsonValue } from '../../src/scanner/model/json.ts';
import { parseRecording } from '../../src/scanner/probe/read-recording.ts';
import type { Recording } from '../../src/scanner/probe/recording.ts';
import type { Row, Rows } from './field-seller.ts';

export type Expectation = {
  /**
   * A check or one of its members ("P3", "P3.outcome"), another member of the report ("payability"), "exit",
   * "stdout", "stderr", or "seen": the requests that arrived, a line each.
   */
  readonly at: string;
  readonly is?: JsonValue;
  readonly in?: readonly JsonValue[];
  /** Patterns ignore case, and `.` matches a line break; a value that is not a text is matched as JSON. */
  readonly matches?: string;
  readonly not?: string;
};

export type FieldCase = {
  readonly id: string;
  /** The source of the report: a repository and issue, or a file and commit. */
  readonly source: string;
  readonly reported: string;
  /** The message that a user should get, and the reason for it. */
  readonly why: string;
  readonly seller: Rows;
  /** Answers of a real origin, as `capture` wrote them; replayed in place of a scan. */
  readonly recording: Recording | null;
  /** Files that a command of `run` reads, by their name. */
  readonly files: Readonly<Record<string, JsonValue>>;
  /** Arguments of the command line; null scans the seller, offline. */
  readonly run: readonly string[] | null;
  readonly expect: readonly Expectation[];
};

type CaseFile = Omit<FieldCase, 'id' | 'seller' | 'recording' | 'files' | 'run'> & {
  /** "lookups" starts from the rows of lookups.json; a row that is null takes one away. */
  readonly like?: 'lookups';
  readonly serve?: Readonly<Record<string, Row | readonly Row[] | null>>;
  readonly recording?: JsonValue;
  readonly files?: Readonly<Record<string, JsonValue>>;
  readonly run?: readonly string[];
};

export const CASES_FOLDER = new URL('./cases/', import.meta.url);

/** Sorted by id, the file's name without ".json". */
export async function readFieldCases(): Promise<readonly FieldCase[]> {
  const names = (await readdir(CASES_FOLDER)).filter((name) => name.endsWith('.json')).sort();
  return Promise.all(names.map((name) => readFieldCase(name.replace(/\.json$/, ''))));
}

async function readFieldCase(id: string): Promise<FieldCase> {
  const file: CaseFile = await readJsonFile(new URL(`${id}.json`, CASES_FOLDER));
  const { like, serve = {}, recording, files = {}, run = null, ...texts } = file;
  const base = like === undefined ? {} : await readLookups();
  const rows = Object.entries({ ...base, ...serve });
  return {
    ...texts,
    id,
    seller: Object.fromEntries(rows.flatMap(([key, row]) => (row === null ? [] : [[key, row]]))),
    recording: recording === undefined ? null : parseRecording(recording, id),
    files,
    run,
  };
}

/** A shop that is right in everything: GET /api/quote for $0.01, with all its documents. */
function readLookups(): Promise<Rows> {
  return readJsonFile(new URL('./lookups.json', import.meta.url));
}

async function readJsonFile<Shape>(url: URL): Promise<Shape> {
  const value: Shape = JSON.parse(await readFile(url, 'utf8'));
  return value;
}
