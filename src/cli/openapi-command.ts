/**
 * `openapi FILE…`: judges OpenAPI documents before they are served, by the checks that need no other
 * document (S1 to S4). Prints one line for each finding, with file and line, for hooks and editors.
 */
import type { HttpObservation, Observations } from '../model/observations.ts';
import type { CheckResult } from '../model/report.ts';
import { EMPTY_OBSERVATIONS } from '../scan/empty-observations.ts';
import { gradeObservations } from '../scan/grade-observations.ts';
import { type Engine, startEngine } from './engine.ts';
import { breakCommands } from './formatters/escapes.ts';
import { toFindingText } from './formatters/findings.ts';
import { readText, type Streams, write } from './io.ts';
import { readSources } from './sources.ts';
import { readFlags, UsageError, usageLine } from './usage.ts';

const DOCUMENT_PATH = '/openapi.json';
const CHECK_IDS = new Set(['S1', 'S2', 'S3', 'S4']);
/** The engine requires a time of the scan, and a file has none. */
const PLACEHOLDER_TIME = new Date(0).toISOString();

/** Returns exit code 1 if a document fails (or warns, with `--fail-on warn`). Throws UsageError. */
export async function openapiCommand(args: readonly string[], { out }: Streams): Promise<0 | 1> {
  const { files, failOn, checksVersion } = parse(args);
  const documents = await Promise.all(
    files.map(async (file) => ({ file, text: await readText(file) })),
  );
  const engine = await startEngine(checksVersion);
  try {
    let isFailed = false;
    for (const document of documents) {
      const findings = await judgeDocument(document.text, engine);
      const { locate } = await readSources([`${DOCUMENT_PATH}=${document.file}`]);
      for (const finding of findings) {
        const { id, title, status } = finding;
        const position = `${document.file}:${locate(finding)?.line ?? 1}`;
        const text = `${position}: ${status} ${id} ${title}: ${toFindingText(finding)}\n`;
        await write(out, breakCommands(text));
        isFailed ||= status === 'fail' || failOn === 'warn';
      }
    }
    return isFailed ? 1 : 0;
  } finally {
    await engine.pool.close();
  }
}

function parse(args: readonly string[]) {
  const { values, positionals: files } = readFlags('openapi', args, {
    'fail-on': { type: 'string' },
    'checks-version': { type: 'string' },
  });
  const { 'fail-on': failOn = 'fail', 'checks-version': checksVersion = null } = values;
  if (files.length > 0 && (failOn === 'fail' || failOn === 'warn')) {
    return { files, failOn, checksVersion };
  }
  throw new UsageError(usageLine('openapi'));
}

/** Returns findings about the document itself, and leaves out those that need the origin. */
async function judgeDocument(text: string, engine: Engine): Promise<readonly CheckResult[]> {
  const { report } = await gradeObservations(toObservations(text), PLACEHOLDER_TIME, engine);
  return report.results.filter(
    ({ id, status, basis }) => CHECK_IDS.has(id) && status !== 'pass' && basis === 'measured',
  );
}

/** Observations of an origin that serves this document and nothing else. */
function toObservations(text: string): Observations {
  const toAnswer = (path: string, body: string): HttpObservation => ({
    ok: true,
    ms: 0,
    truncated: false,
    data: {
      url: `${EMPTY_OBSERVATIONS.origin.url}${path}`,
      method: 'GET',
      status: 200,
      headers: [['content-type', 'application/json']],
      body,
      firstByteMs: 0,
      redirects: [],
    },
  });
  return {
    ...EMPTY_OBSERVATIONS,
    root: toAnswer('/', '{}'),
    openapi: toAnswer(DOCUMENT_PATH, text),
  };
}
