/** What a file imports and re-exports, read from its tokens. */
import { posix } from 'node:path';
import { tokensOf } from './tokens.ts';

export type Import = {
  /** A path from the root of the repository for relative imports, else the package or built-in. */
  target: string;
  /** Erased before it runs: it binds the types of two rooms, not their code. */
  typeOnly: boolean;
  line: number;
};

/** What a file imports and re-exports, dynamic imports of a literal included. */
export function importsOf(file: string, source: string): Import[] {
  const tokens = tokensOf(source);
  const found: Import[] = [];
  let statement = 0;
  for (const [index, token] of tokens.entries()) {
    if (token.text === 'import' || token.text === 'export') statement = index;
    if (token.kind !== 'string') continue;
    const before = tokens[index - 1]?.text;
    const isDynamic = before === '(' && tokens[index - 2]?.text === 'import';
    if (before !== 'from' && before !== 'import' && !isDynamic) continue;
    found.push({
      target: token.text.startsWith('.') ? posix.join(posix.dirname(file), token.text) : token.text,
      typeOnly: !isDynamic && tokens[statement + 1]?.text === 'type' && before === 'from',
      line: token.line,
    });
  }
  return found;
}
