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
 * Armed under `NODE_ENV=test` alone, by `X402_TEST_FAILPOINT`: `<name>` or `<name>:<n>` kills the
 * process, as a power cut would, at the nth passing of that point; `any:<n>` at the nth of all.
 * `stop:` before it stops the process instead, as a machine that is moved or swaps does. `@<file>`
 * arms it while it runs: it does once what the file says, which it deletes then.
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

/** The file arms the failpoint; taking it away disarms it. */
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

/** Counts down the passings that the wish is about. */
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

/** Lets a test end the process when the first half is on its way. */
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
    // The half is with the kernel once the event loop has been round.
    await new Promise((resolve) => setTimeout(resolve, 20));
    failpoints.pass('half-written');
    yield piece.subarray(left);
    left = -1;
  }
}
