import { printParseErrorCode, visit } from 'jsonc-parser';

export const MAX_JSON_DEPTH = 64;
export const MAX_JSON_NODES = 50_000;

const BLANK = /^[ \t\r\n]*$/;

/** Thrown to stop the parser, which continues after errors and recurses into nested values. */
class Refusal extends Error {}

/** Returns the reason why a text is no JSON within the limits, safe for evidence; null when it is. */
export function refuseJson(text: string): string | null {
  if (BLANK.test(text)) return 'empty';
  let depth = 0;
  let nodes = 0;
  const countNode = () => {
    nodes += 1;
    if (nodes > MAX_JSON_NODES) throw new Refusal(`over ${MAX_JSON_NODES} nodes`);
  };
  const begin = () => {
    countNode();
    depth += 1;
    if (depth > MAX_JSON_DEPTH) throw new Refusal(`deeper than ${MAX_JSON_DEPTH}`);
  };
  const end = () => {
    depth -= 1;
  };
  const visitor = {
    onObjectBegin: begin,
    onObjectEnd: end,
    onArrayBegin: begin,
    onArrayEnd: end,
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
 * Returns the reason why a parsed value is over the limits; null when it is within them. It does not
 * recurse. `except` is a member that another reader measures.
 */
export function refuseNesting(value: unknown, except?: unknown): string | null {
  let level: readonly unknown[] = [value];
  let nodes = 0;
  for (let depth = 0; level.length > 0; depth += 1) {
    nodes += level.length;
    if (nodes > MAX_JSON_NODES) return `over ${MAX_JSON_NODES} nodes`;
    const parents = level.filter(
      (one): one is object => typeof one === 'object' && one !== null && one !== except,
    );
    if (parents.length > 0 && depth === MAX_JSON_DEPTH) return `deeper than ${MAX_JSON_DEPTH}`;
    level = parents.flatMap((parent): readonly unknown[] => Object.values(parent));
  }
  return null;
}

function describeError(text: string, code: number, offset: number, length: number): string {
  const isCutString =
    printParseErrorCode(code) === 'UnexpectedEndOfString' && offset + length >= text.length;
  if (isCutString || offset >= text.length) {
    return `not JSON: it breaks off after ${text.length} characters`;
  }
  return `not JSON at character ${offset + 1}`;
}
