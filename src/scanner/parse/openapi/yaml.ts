/** Reads YAML documents. Only the threads that read YAML load this module, because its package is large. */
import {
  type Document,
  isAlias,
  isCollection,
  isMap,
  isPair,
  Lexer,
  type Node,
  type ParsedNode,
  parseDocument,
} from 'yaml';
import type { YamlReading } from '../../model/observations.ts';
import { MAX_JSON_DEPTH, NotJson, OverLimit } from '../json/json.ts';
import { cleanText, quoteText } from '../text/text.ts';

/** A document of more values takes more processor time than we spend. */
export const MAX_YAML_VALUES = 20_000;
export const MAX_YAML_ALIASES = 100;
/** YAML 1.2, in which "no" is a text. Merge keys ("<<") are from 1.1, and many documents have them. */
const OPTIONS = {
  version: '1.2',
  merge: true,
  uniqueKeys: false,
  prettyErrors: false,
  logLevel: 'error',
} as const;
const DEPTH_FAULT = `deeper than ${MAX_JSON_DEPTH}`;
const VALUES_FAULT = `over ${MAX_YAML_VALUES} values`;
const MERGE_KEY = '<<';
const MAX_KEY_CHARS = 40;
const MAX_FAULT_CHARS = 100;
/** First character of the lexer's token that announces a scalar. */
const SCALAR_MARK = '\u001f';
/** First characters of tokens that begin a value, or that belong to one. */
const INDICATORS = '-?[{,&!*';

/** Converts a YAML document to JSON. Values behind aliases count each time they are used. */
export function convertYaml(text: string): YamlReading {
  try {
    refuseManyTokens(text);
    const document = parseDocument(text, OPTIONS);
    const [error] = document.errors;
    if (error !== undefined) {
      // The package tells programmers how to read several documents. Its other words may quote the document.
      const isSeveral = error.code === 'MULTIPLE_DOCS';
      const words = isSeveral ? 'a second document' : cleanText(error.message, MAX_FAULT_CHARS);
      return {
        fault: `not YAML at line ${toLine(text, error.pos[0])}: ${words}`,
        isOverLimit: false,
      };
    }
    if (!isMap(document.contents)) return { fault: 'YAML, but not a map', isOverLimit: false };
    refuseLargeDocument(document, text);
    // The limit of the package is off, because the aliases have been counted.
    return { json: JSON.stringify(document.toJS({ maxAliasCount: -1 })) };
  } catch (error) {
    if (error instanceof NotJson) return { fault: error.message, isOverLimit: false };
    if (error instanceof OverLimit) return { fault: error.message, isOverLimit: true };
    // The parser recurses into nested values.
    if (error instanceof RangeError) return { fault: DEPTH_FAULT, isOverLimit: true };
    throw error;
  }
}

/** Throws OverLimit before the parse, which takes much longer. A map has as many keys as values. */
function refuseManyTokens(text: string): void {
  let [scalarCount, indicatorCount, depth] = [0, 0, 0];
  let isTextOfScalar = false;
  for (const token of new Lexer().lex(text)) {
    // The token behind a mark is the text of the scalar, which may look like any other token.
    if (isTextOfScalar || token === SCALAR_MARK) {
      if (!isTextOfScalar) scalarCount += 1;
      isTextOfScalar = !isTextOfScalar;
      continue;
    }
    const [first = ''] = token;
    if ('[{'.includes(first)) depth += 1;
    if (']}'.includes(first)) depth -= 1;
    if (depth > MAX_JSON_DEPTH) throw new OverLimit(DEPTH_FAULT);
    if (INDICATORS.includes(first)) indicatorCount += 1;
    const itemCount = Math.max(scalarCount, indicatorCount);
    if (itemCount > 2 * MAX_YAML_VALUES) throw new OverLimit(VALUES_FAULT);
  }
}

type Size = { readonly values: number; readonly depth: number };
const SCALAR_SIZE: Size = { values: 1, depth: 0 };

/** Throws OverLimit if the document, with each alias replaced by its value, exceeds a limit. */
function refuseLargeDocument(document: Document.Parsed, text: string): void {
  const sizes = new Map<Node, Size>();
  const anchors = new Map<string, Node>();
  let aliasCount = 0;
  const measureNode = (node: Node | null): Size => {
    if (isAlias(node)) {
      aliasCount += 1;
      if (aliasCount > MAX_YAML_ALIASES) throw new OverLimit(`over ${MAX_YAML_ALIASES} aliases`);
      const target = anchors.get(node.source);
      // An anchor without a size is around the alias, so its value has no end.
      const size = target === undefined ? undefined : sizes.get(target);
      if (size === undefined) throw new OverLimit(DEPTH_FAULT);
      return size;
    }
    if (node !== null && 'anchor' in node && node.anchor) anchors.set(node.anchor, node);
    const size = isCollection(node) ? measureItems(node.items) : SCALAR_SIZE;
    if (node !== null) sizes.set(node, size);
    return size;
  };
  const measureItems = (items: readonly unknown[]): Size => {
    refuseDuplicates(items, text);
    let [values, depth] = [1, 0];
    for (const item of items) {
      // The package types items as unknown, but parses only nodes and pairs of nodes.
      const size = measureNode((isPair(item) ? item.value : item) as Node | null);
      values += size.values;
      depth = Math.max(depth, size.depth);
      if (values > MAX_YAML_VALUES) throw new OverLimit(VALUES_FAULT);
    }
    if (depth + 1 > MAX_JSON_DEPTH) throw new OverLimit(DEPTH_FAULT);
    return { values, depth: depth + 1 };
  };
  measureNode(document.contents);
}

/** Throws NotJson. The option `uniqueKeys` of the package compares each key with each other key, which takes too long. */
function refuseDuplicates(items: readonly unknown[], text: string): void {
  const keys = new Set<string>();
  for (const item of items) {
    // A list has no pairs, and no names.
    if (!isPair(item)) return;
    // The package types keys as unknown, but parses only nodes.
    const [offset] = (item.key as Node | null)?.range ?? [0];
    const toError = (fault: string) =>
      new NotJson(`${fault}, at line ${toLine(text, offset)}`, offset);
    if (isCollection(item.key)) throw toError('YAML with a map or list as a name');
    const key = String(item.key);
    if (keys.has(key) && key !== MERGE_KEY) {
      throw toError(`YAML with two members ${quoteText(key, MAX_KEY_CHARS)} in one map`);
    }
    keys.add(key);
  }
}

function toLine(text: string, offset: number): number {
  return text.slice(0, offset).split('\n').length;
}

/** Finds the line of the value at the steps of a JSON pointer, or of its nearest ancestor. */
export type YamlLines = (steps: readonly (string | number)[]) => number;

export function readYamlLines(text: string): YamlLines {
  const { contents } = parseDocument(text, OPTIONS);
  return (steps) => {
    for (let length = steps.length; length > 0; length -= 1) {
      const offset = findOffset(contents, steps.slice(0, length));
      if (offset !== null) return toLine(text, offset);
    }
    return 1;
  };
}

/** Returns the offset of a member's name, or of a list's item; null if there is none. */
function findOffset(root: ParsedNode | null, steps: readonly (string | number)[]): number | null {
  let node: unknown = root;
  let offset: number | null = null;
  for (const step of steps) {
    if (!isCollection(node)) return null;
    const item: unknown = isMap(node)
      ? node.items.find(({ key }) => String(key) === String(step))
      : node.items[Number(step)];
    if (item === undefined) return null;
    const start = (isPair(item) ? item.key : item) as Node | null;
    offset = start?.range?.[0] ?? offset;
    node = isPair(item) ? item.value : item;
  }
  return offset;
}
