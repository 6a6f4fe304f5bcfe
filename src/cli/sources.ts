/**
 * `--source /openapi.json=docs/openapi.json` maps a document of the origin to a file of the repository.
 * A finding then names the file and the line to change.
 */
import { readFile } from 'node:fs/promises';
import type { Node } from 'jsonc-parser';
import type { CheckResult } from '../model/report.ts';
import { messageOf, UsageError } from './usage.ts';

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

type JsonParser = Pick<typeof import('jsonc-parser'), 'findNodeAtLocation' | 'parseTree'>;

type Source = { readonly path: string; readonly file: string; readonly text: string };

export const NO_SOURCES: Sources = { locate: () => null };

const PAIR_PATTERN = /^(\/[^=\s]*)=(.+)$/;
/** Matches a document and a JSON pointer into it, as in "/openapi.json#/info/contact: missing". */
const POINTER_PATTERN = /(\/[^\s#"',;]*)#(\/[^\s"',;]*?)?(?=:?[\s"',;]|:?$)/g;
/** By check id: the document of a finding whose evidence names no document. */
const DEFAULT_DOCUMENTS: Readonly<Record<string, string>> = {
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
      for (const [, path, pointer = ''] of evidence.matchAll(POINTER_PATTERN)) {
        const source = sources.find((candidate) => candidate.path === path);
        if (source !== undefined) return locatePointer(source, pointer, parser);
      }
      const source =
        sources.find((candidate) => candidate.path === DEFAULT_DOCUMENTS[id]) ??
        sources.find(isFallback);
      return source === undefined ? null : locatePointer(source, '', parser);
    },
  };
}

/** `/=FILE` locates findings about no document, because some readers accept only findings about files. */
function isFallback({ path }: Source): boolean {
  return path === '/';
}

async function readSource(pair: string): Promise<Source> {
  const [, path, file] = PAIR_PATTERN.exec(pair) ?? [];
  if (path === undefined || file === undefined) {
    throw new UsageError(
      `--source ${JSON.stringify(pair)}: give PATH=FILE, such as /openapi.json=docs/openapi.json`,
    );
  }
  try {
    return { path, file: file.replaceAll('\\', '/'), text: await readFile(file, 'utf8') };
  } catch (error) {
    throw new UsageError(`--source ${pair}: the file cannot be read (${messageOf(error)})`);
  }
}

/** Locates a member by its JSON pointer. For a missing member, returns the line of its nearest ancestor in the file. */
function locatePointer(
  { file, text }: Source,
  pointer: string,
  { findNodeAtLocation, parseTree }: JsonParser,
): SourceLocation {
  const root = parseTree(text);
  const steps = pointer.split('/').slice(1).map(unescapeStep);
  for (let length = steps.length; root !== undefined && length > 0; length -= 1) {
    const node = findNodeAtLocation(root, steps.slice(0, length).map(toKeyOrIndex));
    if (node !== undefined) return { file, line: toLine(text, findStart(node)) };
  }
  return { file, line: 1 };
}

/** The offset of a node; for the value of a member, the offset of its name. */
function findStart(node: Node): number {
  return node.parent?.type === 'property' ? node.parent.offset : node.offset;
}

function toLine(text: string, offset: number): number {
  return text.slice(0, offset).split('\n').length;
}

/** Undoes the escapes of RFC 6901, section 4. */
function unescapeStep(step: string): string {
  return step.replaceAll('~1', '/').replaceAll('~0', '~');
}

function toKeyOrIndex(step: string): string | number {
  return /^(?:0|[1-9]\d*)$/.test(step) ? Number(step) : step;
}
