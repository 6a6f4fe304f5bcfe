/**
 * `--source /openapi.json=docs/openapi.json` maps a document of the origin to a file, so that a finding names the file
 * and the line to change. `readRepository` finds the repository that holds the files.
 */
import { realpathSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import * as paths from 'node:path';
import type { Node } from 'jsonc-parser';
import { tryParseJson } from '../scanner/model/json.ts';
import { messageOf } from '../scanner/model/redact.ts';
import type { CheckResult } from '../scanner/model/report.ts';
import { UsageError } from './usage.ts';

export type SourceLocation = {
  /** The path as the user typed it, with forward slashes. */
  readonly file: string;
  /** The first line is 1. */
  readonly line: number;
};

export type Sources = {
  /** Returns null if the finding is about a document without a source. */
  locate(result: Pick<CheckResult, 'id' | 'evidence'>): SourceLocation | null;
};

type Source = SourceLines & { readonly path: string; readonly file: string };

type SourceLines = {
  /** The line of a member. For a missing member, the line of its nearest ancestor in the file. */
  readonly lineOf: (steps: readonly string[]) => number;
  /** True if the file is a JSON object with this member. */
  readonly hasMember: (name: string) => boolean;
};

export const NO_SOURCES: Sources = { locate: () => null };

const YAML_FILE = /\.ya?ml$/i;
/** Sources of findings about the OpenAPI document, if no source is at /openapi.json. */
const YAML_PATHS: readonly string[] = ['/openapi.yaml', '/openapi.yml'];
const PAIR_PATTERN = /^(\/[^=\s]*)=(.+)$/;
/**
 * Matches a document and a JSON pointer into it, bare or quoted as JSON: "/openapi.json#/info/contact: missing",
 * `/openapi.json#"/paths/~1weather/get"`.
 */
const POINTER_PATTERN =
  /(\/[^\s#"',;]*)#(?:("(?:[^"\\]|\\.)*")|(\/[^\s"',;]*?)?(?=:?[\s"',;]|:?$))/g;
/** A pointer of at least two members. A method before it makes it the path of a request. */
const BARE_POINTER_PATTERN = /(?<![A-Z] |[^\s("':;,])(\/[^\s"',;:()]+\/[^\s"',;:()]+)/g;
const OPENAPI_PATH = '/openapi.json';
/** By check id: the document of a finding whose evidence names no document. */
const DEFAULT_DOCUMENTS: Readonly<Record<string, string>> = {
  S1: OPENAPI_PATH,
  S2: OPENAPI_PATH,
  S3: OPENAPI_PATH,
  S4: OPENAPI_PATH,
  S6: '/.well-known/x402',
  S7: '/llms.txt',
  S8: '/.well-known/agent-card.json',
  S10: '/robots.txt',
};

/** Throws UsageError if a pair is malformed or a file cannot be read. */
export async function readSources(pairs: readonly string[]): Promise<Sources> {
  if (pairs.length === 0) return NO_SOURCES;
  const sources = await Promise.all(pairs.map(readSource));
  return {
    locate({ id, evidence }) {
      for (const [, path, quoted, bare = ''] of evidence.matchAll(POINTER_PATTERN)) {
        const source = sources.find((candidate) => candidate.path === path);
        const pointer = quoted === undefined ? bare : readQuoted(quoted);
        if (source !== undefined) return locatePointer(source, pointer);
      }
      const defaultPath = DEFAULT_DOCUMENTS[id];
      const defaultSource =
        sources.find(({ path }) => path === defaultPath) ??
        sources.find(({ path }) => defaultPath === OPENAPI_PATH && YAML_PATHS.includes(path));
      if (defaultSource !== undefined) {
        return locatePointer(defaultSource, findBarePointer(defaultSource, evidence));
      }
      // `/=FILE` locates findings about no document, because some readers accept only findings about files.
      const fallback = sources.find(({ path }) => path === '/');
      return fallback === undefined ? null : locatePointer(fallback, '');
    },
  };
}

async function readSource(pair: string): Promise<Source> {
  const [, path, file] = PAIR_PATTERN.exec(pair) ?? [];
  if (path === undefined || file === undefined) {
    throw new UsageError(
      `--source ${JSON.stringify(pair)}: give PATH=FILE, such as /openapi.json=docs/openapi.json`,
    );
  }
  try {
    const text = await readFile(file, 'utf8');
    const lines = await (isYamlFile(file) ? readYaml(text) : readJson(text));
    return { path, file: file.replaceAll('\\', '/'), ...lines };
  } catch (error) {
    throw new UsageError(`--source ${pair}: the file cannot be read (${messageOf(error)})`);
  }
}

export function isYamlFile(file: string): boolean {
  return YAML_FILE.test(file);
}

async function readYaml(text: string): Promise<SourceLines> {
  // Loaded on demand: most sources are JSON.
  const { readYamlLines } = await import('../scanner/parse/openapi/yaml.ts');
  // Only OpenAPI documents may be YAML, and evidence about them writes the document before each pointer.
  return { lineOf: readYamlLines(text), hasMember: () => false };
}

async function readJson(text: string): Promise<SourceLines> {
  const { findNodeAtLocation, parseTree } = await import('jsonc-parser');
  const root = parseTree(text);
  const find = (steps: readonly string[]) =>
    root === undefined ? undefined : findNodeAtLocation(root, steps.map(toKeyOrIndex));
  return {
    lineOf: (steps) => {
      for (let length = steps.length; length > 0; length -= 1) {
        const node = find(steps.slice(0, length));
        if (node !== undefined) return toLine(text, findStart(node));
      }
      return 1;
    },
    hasMember: (name) => root?.type === 'object' && find([name]) !== undefined,
  };
}

function locatePointer({ file, lineOf }: Source, pointer: string): SourceLocation {
  return { file, line: lineOf(toSteps(pointer)) };
}

/** The offset of a node; for the value of a member, the offset of its name. */
function findStart(node: Node): number {
  return node.parent?.type === 'property' ? node.parent.offset : node.offset;
}

function toLine(text: string, offset: number): number {
  return text.slice(0, offset).split('\n').length;
}

function readQuoted(text: string): string {
  const value = tryParseJson(text);
  return typeof value === 'string' ? value : '';
}

/**
 * Finds the first pointer in evidence that names no document, as in "lacks these: /skills/0/tags". Paths of requests look
 * like pointers, so the first member of a pointer must exist in the document. Returns '' if there is none.
 */
function findBarePointer({ hasMember }: Source, evidence: string): string {
  for (const [, pointer = ''] of evidence.matchAll(BARE_POINTER_PATTERN)) {
    const [first = '', ...others] = toSteps(pointer);
    if (others.length > 0 && hasMember(first)) return pointer;
  }
  return '';
}

function toSteps(pointer: string): string[] {
  return pointer.split('/').slice(1).map(unescapeStep);
}

/** Undoes the escapes of RFC 6901, section 4. */
function unescapeStep(step: string): string {
  return step.replaceAll('~1', '/').replaceAll('~0', '~');
}

function toKeyOrIndex(step: string): string | number {
  return /^(?:0|[1-9]\d*)$/.test(step) ? Number(step) : step;
}

/** The seller's repository. Readers of pipelines match paths that are relative to its root, with forward slashes. */
export type Repository = {
  /** The shortest path from the root: "docs/openapi.json". Null for a file outside the root. */
  readonly toPath: (file: string) => string | null;
  /** The file that defines the running pipeline; null if there is none, or if it belongs to another repository. */
  readonly pipelineFile: string | null;
};

/** Findings about no file point here if no pipeline runs. Code scanning accepts only files of the repository. */
export const README_FILE = 'README.md';

/** Variables of GitHub and GitLab that hold the root of the checkout. */
const ROOT_VARIABLES = ['GITHUB_WORKSPACE', 'CI_PROJECT_DIR'];

export function readRepository(
  env: Readonly<Record<string, string | undefined>> = process.env,
  workingFolder: string = process.cwd(),
): Repository {
  // A container may get the variables of a machine whose folders it does not have.
  const statedRoot = ROOT_VARIABLES.map((name) => toRealPath(env[name] ?? '')).find(
    (root) => root !== null,
  );
  const root = statedRoot ?? toRealPath(workingFolder) ?? workingFolder;
  const toPath = (file: string) => {
    const absolute = paths.resolve(workingFolder, file);
    const realFolder = toRealPath(paths.dirname(absolute)) ?? paths.dirname(absolute);
    return toPathInside(root, paths.join(realFolder, paths.basename(absolute)));
  };
  return { toPath, pipelineFile: findPipelineFile(env, root) };
}

function toRealPath(folder: string): string | null {
  if (folder === '') return null;
  try {
    return realpathSync(folder);
  } catch {
    return null;
  }
}

function toPathInside(root: string, file: string): string | null {
  const relative = paths.relative(root, file);
  const steps = relative.split(paths.sep);
  return relative === '' || steps[0] === '..' || paths.isAbsolute(relative)
    ? null
    : steps.join('/');
}

function findPipelineFile(env: Readonly<Record<string, string | undefined>>, root: string) {
  const { GITHUB_WORKFLOW_REF, GITHUB_REPOSITORY, CI_CONFIG_PATH } = env;
  const [, repository, workflow] = /^([^/]+\/[^/]+)\/(.+?)@/.exec(GITHUB_WORKFLOW_REF ?? '') ?? [];
  const isOfRepository = GITHUB_REPOSITORY === undefined || GITHUB_REPOSITORY === repository;
  // GitLab's setting may be an address, or "file@group/project" for a file of another project.
  const config = /:\/\/|@/.test(CI_CONFIG_PATH ?? '') ? undefined : CI_CONFIG_PATH;
  const file = (isOfRepository ? workflow : undefined) || config;
  return file ? toPathInside(root, paths.resolve(root, file)) : null;
}
