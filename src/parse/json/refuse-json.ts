import { printParseErrorCode, visit } from 'jsonc-parser';

export const MAX_JSON_DEPTH = 64;
export const MAX_JSON_NODES = 50_000;

const BLANK = /^[ \t\r\n]*$/;

/** Stops the parser, which otherwise continues after an error and recurses into nested values. */
class Refusal extends Error {}

/** Returns why a text is not JSON or is over a limit, safe for evidence; null if the text is acceptable. */
export function refuseJson(text: string): string | null {
  if (BLANK.test(text)) return 'empty';
  let depth = 0;
  let nodes = 0;
  const countNode = () => {
    nodes += 1;
    if (nodes > MAX_JSON_NODES) throw new Refusal(`over ${MAX_JSON_NODES} nodes`);
  };
  const beginNested = () => {
    countNode();
    depth += 1;
    if (depth > MAX_JSON_DEPTH) throw new Refusal(`deeper than ${MAX_JSON_DEPTH}`);
  };
  const endNested = () => {
    depth -= 1;
  };
  const visitor = {
    onObjectBegin: beginNested,
    onObjectEnd: endNested,
    onArrayBegin: beginNested,
    onArrayEnd: endNested,
    onLiteralValue: countNode,
    onError(code: number, offset: number, length: number) {
      throw new Refusal(describeError(text, code, offset, length));
    },
  };
  try {
    visit(text, visitor, { disallowComments: true, allowTrailingComma: false });
    return null;
  } catch (error) {
    if (error instanceof Refusal) return error.message;
    throw error;
  }
}

/**
 * Names the limit that a parsed value exceeds; returns null if it exceeds no limit. Goes level by level, without
 * recursion. Does not look into the value `skipped`, which the caller checks in another way.
 */
export function refuseNesting(value: unknown, skipped?: unknown): string | null {
  let level: readonly unknown[] = [value];
  let nodes = 0;
  for (let depth = 0; level.length > 0; depth += 1) {
    nodes += level.length;
    if (nodes > MAX_JSON_NODES) return `over ${MAX_JSON_NODES} nodes`;
    const parents = level.filter(
      (node): node is object => typeof node === 'object' && node !== null && node !== skipped,
    );
    if (parents.length > 0 && depth === MAX_JSON_DEPTH) return `deeper than ${MAX_JSON_DEPTH}`;
    level = parents.flatMap((parent): readonly unknown[] => Object.values(parent));
  }
  return null;
}

function describeError(text: string, code: number, offset: number, length: number): string {
  const isStringCut =
    printParseErrorCode(code) === 'UnexpectedEndOfString' && offset + length >= text.length;
  if (isStringCut || offset >= text.length) {
    return `not JSON: it breaks off after ${text.length} characters`;
  }
  return `not JSON at character ${offset + 1}`;
}
