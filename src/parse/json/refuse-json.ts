import { printParseErrorCode, visit } from 'jsonc-parser';

export const MAX_JSON_DEPTH = 64;
export const MAX_JSON_NODES = 50_000;
export const MAX_OPENAPI_NODES = 300_000;

const BLANK = /^[ \t\r\n]*$/;

export type JsonRefusal = {
  /** The reason, safe for evidence. */
  readonly detail: string;
  /** True if the text may be JSON, but exceeds one of our limits. */
  readonly isOverLimit: boolean;
};

/** Stops the parser, which otherwise continues after an error and recurses into nested values. */
class Refusal extends Error {
  readonly isOverLimit: boolean;

  constructor(detail: string, isOverLimit: boolean) {
    super(detail);
    this.isOverLimit = isOverLimit;
  }
}

/** Returns why a text is not JSON or is over a limit; null if the text is acceptable. */
export function refuseJson(text: string, maxNodes: number = MAX_JSON_NODES): JsonRefusal | null {
  if (BLANK.test(text)) return { detail: 'empty', isOverLimit: false };
  let depth = 0;
  let nodes = 0;
  const countNode = () => {
    nodes += 1;
    if (nodes > maxNodes) throw new Refusal(describeNodeLimit(maxNodes), true);
  };
  const beginNested = () => {
    countNode();
    depth += 1;
    if (depth > MAX_JSON_DEPTH) throw new Refusal(DEPTH_LIMIT, true);
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
      throw new Refusal(describeError(text, code, offset, length), false);
    },
  };
  try {
    visit(text, visitor, { disallowComments: true, allowTrailingComma: false });
    return null;
  } catch (error) {
    if (error instanceof Refusal) return { detail: error.message, isOverLimit: error.isOverLimit };
    throw error;
  }
}

const DEPTH_LIMIT = `deeper than ${MAX_JSON_DEPTH}`;

function describeNodeLimit(maxNodes: number): string {
  return `over ${maxNodes} nodes`;
}

/**
 * Names the limit that a parsed value exceeds; returns null if it exceeds no limit. Goes level by level, without
 * recursion. Does not look into the value `skipped`, which the caller checks in another way.
 */
export function refuseNesting(
  value: unknown,
  skipped?: unknown,
  maxNodes: number = MAX_JSON_NODES,
): string | null {
  let level: readonly unknown[] = [value];
  let nodes = 0;
  for (let depth = 0; level.length > 0; depth += 1) {
    nodes += level.length;
    if (nodes > maxNodes) return describeNodeLimit(maxNodes);
    const parents = level.filter(
      (node): node is object => typeof node === 'object' && node !== null && node !== skipped,
    );
    if (parents.length > 0 && depth === MAX_JSON_DEPTH) return DEPTH_LIMIT;
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
