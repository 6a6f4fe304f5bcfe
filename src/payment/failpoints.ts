/** Failpoints: tests end or stall the process at a named step of a paid call. */
import { existsSync, readFileSync, rmSync } from 'node:fs';

export const FAILPOINTS = [
  'parsed',
  'claimed',
  'verified',
  'computing',
  'computed',
  'intent-synced',
  'settled-unread',
  'settled-recorded',
  'half-written',
] as const;

export type Failpoint = (typeof FAILPOINTS)[number];

export type Failpoints = {
  readonly isArmed: boolean;
  pass(name: Failpoint): void;
};

export const NO_FAILPOINTS: Failpoints = { isArmed: false, pass() {} };

/** The action that a test wants, and how often the point is passed before it happens. */
type Wish = {
  readonly name: Failpoint | 'any';
  readonly signal: 'SIGKILL' | 'SIGSTOP';
  left: number;
};

/**
 * Reads `X402_TEST_FAILPOINT`, only under `NODE_ENV=test`. `<name>` or `<name>:<n>` kills the process at
 * the nth passing of that point, and `any:<n>` at the nth passing of any point. The prefix `stop:`
 * suspends the process instead, like a machine that is migrated or swaps. `@<file>` reads one such text
 * from the file at each passing, and deletes the file when it acts.
 */
export function readFailpoints(
  environment: Readonly<Record<string, string | undefined>>,
): Failpoints {
  const text = environment['X402_TEST_FAILPOINT'] ?? '';
  if (environment['NODE_ENV'] !== 'test' || text === '') return NO_FAILPOINTS;
  return text.startsWith('@') ? armedByFile(text.slice(1)) : armedBy(wishOf(text));
}

function armedBy(wish: Wish): Failpoints {
  return {
    isArmed: true,
    pass(name) {
      if (isDue(wish, name)) process.kill(process.pid, wish.signal);
    },
  };
}

/** The failpoint is armed while the file exists. */
function armedByFile(file: string): Failpoints {
  let armed: { readonly text: string; readonly wish: Wish } | null = null;
  return {
    isArmed: true,
    pass(name) {
      const text = existsSync(file) ? readFileSync(file, 'utf8') : null;
      if (text !== (armed?.text ?? null)) {
        armed = text === null ? null : { text, wish: wishOf(text.trim()) };
      }
      if (armed === null || !isDue(armed.wish, name)) return;
      rmSync(file);
      process.kill(process.pid, armed.wish.signal);
    },
  };
}

/** Counts down the passings of the wished point; true at the last one. */
function isDue(wish: Wish, name: Failpoint): boolean {
  if (wish.name !== 'any' && wish.name !== name) return false;
  wish.left -= 1;
  return wish.left === 0;
}

function wishOf(text: string): Wish {
  const isStop = text.startsWith('stop:');
  const [wanted, count = '1'] = (isStop ? text.slice('stop:'.length) : text).split(':');
  const name = [...FAILPOINTS, 'any' as const].find((known) => known === wanted);
  if (name === undefined) {
    throw new Error(
      `X402_TEST_FAILPOINT is "${text}": give any or one of ${FAILPOINTS.join(', ')}`,
    );
  }
  return { name, signal: isStop ? 'SIGSTOP' : 'SIGKILL', left: Number(count) };
}

/** Passes `half-written` after the first half of the body is sent. */
export async function* inHalves(
  body: string | AsyncIterable<Uint8Array>,
  bodyBytes: number,
  failpoints: Failpoints,
): AsyncIterable<Uint8Array> {
  let left = Math.floor(bodyBytes / 2);
  const pieces = typeof body === 'string' ? [Buffer.from(body)] : body;
  for await (const piece of pieces) {
    if (left > piece.length || left < 0) {
      left -= piece.length;
      yield piece;
      continue;
    }
    yield piece.subarray(0, left);
    // The kernel has the first half after a turn of the event loop.
    await new Promise((resolve) => setTimeout(resolve, 20));
    failpoints.pass('half-written');
    yield piece.subarray(left);
    left = -1;
  }
}
