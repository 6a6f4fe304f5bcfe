/**
 * `npm run field:new -- ID` begins a case with a seller to write by hand. With an origin it records the origin
 * (`capture`), with `--recording FILE` it takes a recording that somebody sent. Flags of `capture` are passed on.
 */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import type { JsonValue } from '../../src/scanner/model/json.ts';
import { parseRecording } from '../../src/scanner/probe/read-recording.ts';
import { runCli } from '../cli/run-cli.ts';
import { NEWER_VERSION, startEngine } from '../scanner/scan/engine-under-test.ts';
import { CASES_FOLDER, type Expectation } from './field-case.ts';

const USAGE =
  'npm run field:new -- ID [ORIGIN [--allow-private] [--offline] | --recording FILE]; ID is in lower case, such as doc-price-drift';
/** Checks of which a report speaks first; `expect` keeps what the report is about. */
const FIRST_CHECKS = ['P2', 'P3', 'P6', 'S1', 'S4'];
const SELLER_BY_HAND = {
  like: 'lookups',
  serve: { 'GET /api/quote': { status: 402, headers: {}, body: {} } },
  expect: [{ at: 'P2.outcome', is: 'undecodable' }],
};

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    recording: { type: 'string' },
    'allow-private': { type: 'boolean' },
    offline: { type: 'boolean' },
  },
});
const [id = '', origin = null, ...more] = positionals;
const isUsable = /^[a-z0-9]+(?:-[a-z0-9]+)*$/.test(id) && more.length === 0;
if (!isUsable || (origin !== null && values.recording !== undefined)) {
  process.stderr.write(`${USAGE}\n`);
  process.exit(2);
}

const text = values.recording ? await readFile(values.recording, 'utf8') : await record(origin);
const file = fileURLToPath(new URL(`${id}.json`, CASES_FOLDER));
const body = text === null ? SELLER_BY_HAND : await toRecordedCase(JSON.parse(text));
const written = { source: '', reported: '', why: '', ...body };
await writeFile(file, `${JSON.stringify(written)}\n`, { flag: 'wx' }).catch((error) => {
  process.stderr.write(
    `${relative('.', file)}: ${error.code === 'EEXIST' ? 'there is such a case' : error.message}\n`,
  );
  process.exit(2);
});
process.stdout.write(
  `${relative('.', file)}: format it by npm run lint -- --write, write source, reported and why, and in expect what a user should be told; then npx vitest run test/field -t ${id}\n`,
);

/** The recording as `capture` trims it, without secrets; null without an origin. */
async function record(url: string | null): Promise<string | null> {
  if (url === null) return null;
  const folder = await mkdtemp(join(tmpdir(), 'field-'));
  try {
    const output = join(folder, 'recording.json');
    const flags = (['allow-private', 'offline'] as const).filter((name) => values[name]);
    const args = ['capture', url, ...flags.map((name) => `--${name}`), '--output', output];
    const { code, stderr } = await runCli(args);
    if (code !== 0) throw new Error(stderr);
    return await readFile(output, 'utf8');
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Expects what the scanner says today: what it should say instead is for you to write. */
async function toRecordedCase(recording: JsonValue) {
  await using engine = await startEngine();
  const { report } = await engine.replay(parseRecording(recording, 'the recording'), NEWER_VERSION);
  const outcomes = report.results
    .filter((result) => FIRST_CHECKS.includes(result.id))
    .map(({ id: check, outcome }): Expectation => ({ at: `${check}.outcome`, is: outcome }));
  return { recording, expect: [{ at: 'grade', is: report.grade }, ...outcomes] };
}
