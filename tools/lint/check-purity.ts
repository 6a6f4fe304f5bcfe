/** Checks are pure and synchronous: the same observations give the same verdict, on any machine, for ever. */
import type { Finding, HouseRule } from './finding.ts';
import { type Token, tokensOf } from './tokens.ts';

const TIMERS = ['setTimeout', 'setInterval', 'setImmediate', 'queueMicrotask'];
const BYTES = [
  'Buffer',
  'ArrayBuffer',
  'SharedArrayBuffer',
  'DataView',
  'Int8Array',
  'Uint8Array',
  'Uint8ClampedArray',
  'Int16Array',
  'Uint16Array',
  'Int32Array',
  'Uint32Array',
  'Float16Array',
  'Float32Array',
  'Float64Array',
  'BigInt64Array',
  'BigUint64Array',
  'TextEncoder',
  'TextDecoder',
  'WebAssembly',
];
const ASYNC = ['async', 'await', 'Promise'];
const OUTSIDE = [
  'process',
  'fetch',
  'globalThis',
  'global',
  'require',
  'performance',
  'crypto',
  'eval',
  'Function',
  'console',
];

const INSTEAD = new Map<string, string>([
  ...TIMERS.map((word) => [word, 'a check has no time to wait in: judge what was seen'] as const),
  // They live outside of the heap that the worker's limit covers: 1 GB fits under a cap of 64 MB.
  ...BYTES.map(
    (word) => [word, 'work on strings: bytes escape the memory limit of the worker'] as const,
  ),
  ...ASYNC.map(
    (word) => [word, 'a check answers at once: have it gathered, and declare the need'] as const,
  ),
  ...OUTSIDE.map(
    (word) => [word, 'a check sees only what it declares in "needs", and its kit'] as const,
  ),
  ['Date', 'take times from the observations: a verdict may not depend on the clock'],
]);

export const checkPurity: HouseRule = (tree) =>
  tree.files
    .filter((file) => /^checks\/.*\.ts$/.test(file) && !file.endsWith('/cases.ts'))
    .flatMap((file) => impurities(file, tokensOf(tree.read(file))));

function impurities(file: string, tokens: readonly Token[]): Finding[] {
  return tokens.flatMap((token, index) => {
    const [before, after, then] = [index - 1, index + 1, index + 2].map((at) => tokens[at]?.text);
    const message = impurity(token, before, after, then);
    return message === null ? [] : [{ file, line: token.line, message }];
  });
}

function impurity(
  { kind, text }: Token,
  before: string | undefined,
  after: string | undefined,
  then: string | undefined,
): string | null {
  const isImported = before === 'from' || before === 'import' || before === '(';
  if (kind === 'string' && isImported && text.startsWith('node:')) {
    return `no built-in modules here (${text}): a check sees what it declares in "needs", and its kit`;
  }
  if (kind !== 'word') return null;
  if (text === 'Math' && then === 'random') {
    return 'no Math.random here: the same observations must give the same verdict';
  }
  if (text === 'RegExp' && after === '(') {
    return 'no RegExp from a text here: write a literal, which no origin can shape';
  }
  if (text === 'as' && after === 'any') return 'no "as any" here: narrow the unknown value';
  // These two only read what they are given.
  if (text === 'Date' && after === '.' && (then === 'parse' || then === 'UTC')) return null;
  // A member or a key of that name is somebody's data.
  const isMember = before === '.' || before === '?.' || after === ':';
  const instead = isMember ? undefined : INSTEAD.get(text);
  return instead === undefined ? null : `no ${text} here: ${instead}`;
}
