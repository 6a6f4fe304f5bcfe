/**
 * `openapi FILE…`: judges OpenAPI documents before they are served, by the checks that need no other
 * document (S1 to S4). Prints one line for each finding, with file and line, for hooks and editors.
 */
import type { HttpObservation, Observations, YamlReading } from '../scanner/model/observations.ts';
import type { CheckResult } from '../scanner/model/report.ts';
import { MAX_OPENAPI_NODES } from '../scanner/parse/json/json.ts';
import { gradeObservations } from '../scanner/scan/grade-observations.ts';
import { EMPTY_OBSERVATIONS } from '../scanner/scan/scanner.ts';
import { type Engine, startEngine } from './engine.ts';
import { defuseCommands } from './formatters/escapes.ts';
import { toFindingText } from './formatters/findings.ts';
import { readText, type Streams, write } from './io.ts';
import { isYamlFile, readSources } from './sources.ts';
import { readFlags, UsageError, usageLine } from './usage.ts';

const DOCUMENT_PATH = '/openapi.json';
const YAML_PATH = '/openapi.yaml';
const CHECK_IDS = new Set(['S1', 'S2', 'S3', 'S4']);
/** The engine requires a time of the scan, and a file has none. */
const PLACEHOLDER_TIME = new Date(0).toISOString();

/**
 * Returns exit code 1 if a document fails (or warns, with `--fail-on warn`). Throws UsageError, also for a file that is
 * neither JSON nor YAML.
 */
export async function openapiCommand(args: readonly string[], { out }: Streams): Promise<0 | 1> {
  const { files, failOn, checksVersion } = parse(args);
  const documents = await Promise.all(files.map(readDocument));
  const engine = await startEngine(checksVersion);
  try {
    let isFailed = false;
    for (const document of documents) {
      const findings = await judgeDocument(document, engine);
      const { locate } = await readSources([`${document.path}=${document.file}`]);
      for (const finding of findings) {
        const { id, title, status } = finding;
        const position = `${document.file}:${locate(finding)?.line ?? 1}`;
        const text = `${position}: ${status} ${id} ${title}: ${toFindingText(finding)}\n`;
        await write(out, defuseCommands(text));
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

type FileDocument = {
  readonly file: string;
  /** The path at which a seller would serve the file. */
  readonly path: string;
  readonly text: string;
  readonly yaml: YamlReading | null;
};

/** A file is YAML or JSON by its name. Throws UsageError if it is neither; a file over our limits is judged. */
async function readDocument(file: string): Promise<FileDocument> {
  const text = await readText(file);
  if (isYamlFile(file)) {
    const { convertYaml } = await import('../scanner/parse/openapi/yaml.ts');
    const yaml = convertYaml(text);
    if ('fault' in yaml && !yaml.isOverLimit) throw new UsageError(`${file}: ${yaml.fault}`);
    return { file, path: YAML_PATH, text, yaml };
  }
  const { isJsonObject, parseJson } = await import('../scanner/parse/json/json.ts');
  const json = parseJson(text, MAX_OPENAPI_NODES);
  if (!json.ok && !json.isOverLimit) {
    // A text that begins like JSON is not meant as YAML.
    const advice = /^\s*[[{]/.test(text) ? '' : '; the name of a YAML file ends in .yaml or .yml';
    const line = text.slice(0, json.offset).split('\n').length;
    throw new UsageError(`${file}:${line}: ${json.detail}${advice}`);
  }
  if (json.ok && !isJsonObject(json.value)) throw new UsageError(`${file}: JSON, but not a map`);
  return { file, path: DOCUMENT_PATH, text, yaml: null };
}

/** Returns findings about the document itself, and leaves out those that need the origin. */
async function judgeDocument(
  document: FileDocument,
  engine: Engine,
): Promise<readonly CheckResult[]> {
  const { report } = await gradeObservations(toObservations(document), PLACEHOLDER_TIME, engine);
  return report.results.filter(
    ({ id, status, basis }) => CHECK_IDS.has(id) && status !== 'pass' && basis === 'measured',
  );
}

/** Observations of an origin that serves this document and nothing else. */
function toObservations({ path, text, yaml }: FileDocument): Observations {
  const toAnswer = (path: string, body: string, status = 200): HttpObservation => ({
    ok: true,
    ms: 0,
    truncated: false,
    data: {
      // The query keeps the placeholder apart from operations such as GET /openapi.json, which nobody requested.
      url: `${EMPTY_OBSERVATIONS.origin.url}${path}?placeholder`,
      method: 'GET',
      status,
      headers: [['content-type', 'application/json']],
      body,
      firstByteMs: 0,
      redirects: [],
    },
  });
  return {
    ...EMPTY_OBSERVATIONS,
    root: toAnswer('/', '{}'),
    ...(yaml === null
      ? { openapi: toAnswer(path, text) }
      : {
          openapi: toAnswer(DOCUMENT_PATH, '', 404),
          openapiAlternates: [{ path, answer: toAnswer(path, text), yaml }],
        }),
  };
}
