/** TypeScript cut into tokens by its own scanner, so that rules see code, not comments or texts. */
import { SyntaxKind } from 'typescript/unstable/ast';
import {
  computeLineStarts,
  createScanner,
  type Scanner,
  tokenIsIdentifierOrKeyword,
} from 'typescript/unstable/ast/scanner';

export type Token = {
  /** `string` tokens have the text between the quotes; template parts and regular expressions are `other`. */
  kind: 'word' | 'string' | 'other';
  text: string;
  line: number;
};

export function tokensOf(source: string): Token[] {
  const scanner = createScanner(true);
  scanner.setText(source);
  const lineStarts = computeLineStarts(source);
  const tokens: Token[] = [];
  // For each open brace whether a template continues behind it.
  const braces: boolean[] = [];
  let line = 1;
  for (;;) {
    const kind = next(scanner, tokens.at(-1), braces);
    if (kind === SyntaxKind.EndOfFile) return tokens;
    while ((lineStarts[line] ?? Number.POSITIVE_INFINITY) <= scanner.getTokenStart()) line += 1;
    const isString = kind === SyntaxKind.StringLiteral;
    tokens.push({
      kind: isString ? 'string' : tokenIsIdentifierOrKeyword(kind) ? 'word' : 'other',
      text: isString ? scanner.getTokenValue() : scanner.getTokenText(),
      line,
    });
  }
}

/** The scanner leaves to its caller what only the context tells: `/` and the end of a template hole. */
function next(scanner: Scanner, previous: Token | undefined, braces: boolean[]): SyntaxKind {
  const kind = scanner.scan();
  if (kind === SyntaxKind.OpenBraceToken) braces.push(false);
  if (kind === SyntaxKind.TemplateHead) braces.push(true);
  if (kind === SyntaxKind.CloseBraceToken && braces.pop() === true) {
    const rest = scanner.reScanTemplateToken(false);
    if (rest === SyntaxKind.TemplateMiddle) braces.push(true);
    return rest;
  }
  const isSlash = kind === SyntaxKind.SlashToken || kind === SyntaxKind.SlashEqualsToken;
  return isSlash && !endsOperand(previous) ? scanner.reScanSlashToken() : kind;
}

/** Behind an operand a slash divides; elsewhere it opens a regular expression. */
function endsOperand(token: Token | undefined): boolean {
  if (token === undefined) return false;
  if (token.kind === 'word')
    return !/^(?:return|typeof|case|in|of|delete|void|throw|new|else|do|await|yield)$/.test(
      token.text,
    );
  return token.kind === 'string' || /^(?:[)\]}`]|[\d.]+n?|.*`)$/s.test(token.text);
}
