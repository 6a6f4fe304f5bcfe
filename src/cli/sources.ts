/**
 * `--source /openapi.json=docs/openapi.json` maps a document of the origin to a file of the repository,
 * so that a finding names the file and the line to change.
 */
import { readFile } from 'node:fs/promises';
import type { Node } from 'jsonc-parser';
import type { CheckResult } from '../model/report.ts';
import { UsageError } from './usage.ts';

export type SourceLocation = {
  /** Relative to the repository, as typed, with forward slashes. */
  readonly file: string;
  /** From 1. */
  readonly line: number;
};

export type Sources = {
  /** Null for a finding about a document without a source. */
  locate(result: Pick<CheckResult, 'id' | 'evidence'>): SourceLocation | null;
};

type Parser = Pick<typeof import('jsonc-parser'), 'findNodeAtLocation' | 'parseTree'>;

type Source = { readonly path: string; readonly file: string; readonly text: string };

export const NO_SOURCES: Sources = { locate: () => null };

const PAIR = /^(\/[^=\s]*)=(.+)$/;
/** "/openapi.json#/info/contact: missing": a document and a JSON pointer into it. */
const POINTER = /(\/[^\s#"',;]*)#(\/[^\s"',;]*?)?(?=:?[\s"',;]|:?$)/g;
/** The document of a check whose evidence names none. */
const DOCUMENTS: Readonly<Record<string, string>> = {
  S1: '/openapi.json',
  S2: '/openapi.json',
  S3: '/openapi.json',
  S4: '/openapi.json',
  S6: '/.well-known/x402',
  S7: '/llms.txt',
  S8: '/.well-known/agent-card.json',
  S10: '/robots.txt',
};

/** Throws UsageError if a pair is malformed or a file cannot be read. */
export async function readSources(pairs: readonly string[]): Promise<Sources> {
  if (pairs.length === 0) return NO_SOURCES;
  const sources = await Promise.all(pairs.map(readSource));
  const parser = await import('jsonc-parser');
  return {
    locate({ id, evidence }) {
      for (const [, path, pointer = ''] of evidence.matchAll(POINTER)) {
        const source = sources.find((one) => one.path === path);
        if (source !== undefined) return locationOf(source, pointer, parser);
      }
      const source =
        sources.find((one) => one.path === DOCUMENTS[id]) ?? sources.find(isForTheRest);
      return source === undefined ? null : locationOf(source, '', parser);
    },
  };
}

/** `/=FILE` locates findings about no document; some readers accept only findings about files. */
function isForTheRest({ path }: Source): boolean {
  return path === '/';
}

async function readSource(pair: string): Promise<Source> {
  const [, path, file] = PAIR.exec(pair) ?? [];
  if (path === undefined || file === undefined) {
    throw new UsageError(
      `--source ${JSON.stringify(pair)}: give PATH=FILE, such as /openapi.json=docs/openapi.json`,
    );
  }
  try {
    return { path, file: file.replaceAll('\\', '/'), text: await readFile(file, 'utf8') };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new UsageError(`--source ${pair}: the file cannot be read (${reason})`);
  }
}

/** Locates a missing member by its nearest ancestor in the file. */
function locationOf(
  { file, text }: Source,
  pointer: string,
  { findNodeAtLocation, parseTree }: Parser,
): SourceLocation {
  const root = parseTree(text);
  const steps = pointer.split('/').slice(1).map(unescapeStep);
  for (let length = steps.length; root !== undefined && length > 0; length -= 1) {
    const node = findNodeAtLocation(root, steps.slice(0, length).map(asIndex));
    if (node !== undefined) return { file, line: lineOf(text, startOf(node)) };
  }
  return { file, line: 1 };
}

/** A member begins with its name. */
function startOf(node: Node): number {
  return node.parent?.type === 'property' ? node.parent.offset : node.offset;
}

function lineOf(text: string, offset: number): number {
  return text.slice(0, offset).split('\n').length;
}

/** RFC 6901, section 4. */
function unescapeStep(step: string): string {
  return step.replaceAll('~1', '/').replaceAll('~0', '~');
}

function asIndex(step: string): string | number {
  return /^(?:0|[1-9]\d*)$/.test(step) ? Number(step) : step;
}
