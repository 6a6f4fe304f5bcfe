/** The processes of a run: the farm, and those that scan it. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { WATCH_FLAGS } from './connection-attempts.ts';
import type { FarmFacts } from './farm-process.ts';
import type { RoundAsked, RoundTold } from './scan-process.ts';

const STOP_MS = 5_000;

export type FarmProcess = FarmFacts & {
  reachedInside(): Promise<number>;
  [Symbol.asyncDispose](): Promise<void>;
};

export type ScanProcess = {
  /** Before the first scan. */
  readonly restMib: number;
  /** Rejects if the process ends in the middle of it. */
  play(round: RoundAsked): Promise<RoundTold>;
  [Symbol.asyncDispose](): Promise<void>;
};

export async function startFarmProcess(): Promise<FarmProcess> {
  const child = start('farm-process.ts', []);
  const facts = await answerOf<FarmFacts>(child);
  return {
    ...facts,
    reachedInside: async () => {
      child.send({});
      return (await answerOf<{ reachedInside: number }>(child)).reachedInside;
    },
    [Symbol.asyncDispose]: () => stop(child),
  };
}

export async function startScanProcess(flags: readonly string[] = []): Promise<ScanProcess> {
  const child = start('scan-process.ts', ['--expose-gc', ...WATCH_FLAGS, ...flags]);
  const { rssMib } = await answerOf<{ rssMib: number }>(child);
  return {
    restMib: rssMib,
    play: (round) => {
      child.send(round);
      return answerOf<RoundTold>(child);
    },
    [Symbol.asyncDispose]: () => stop(child),
  };
}

function start(script: string, flags: readonly string[]): ChildProcess {
  const file = fileURLToPath(new URL(script, import.meta.url));
  return fork(file, { execArgv: ['--no-warnings', ...flags], stdio: 'inherit' });
}

async function answerOf<T>(child: ChildProcess): Promise<T> {
  const ended = new AbortController();
  const { signal } = ended;
  const exit = once(child, 'exit', { signal }).then(([code, killed]) => {
    throw new Error(`the process ended with ${code ?? killed}`);
  });
  try {
    const [answer] = await Promise.race([once(child, 'message', { signal }), exit]);
    return answer as T; // said by the script of this folder that was started
  } finally {
    exit.catch(() => undefined);
    ended.abort();
  }
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  // It ends by itself once nobody listens, and so keeps what it compiled for the next one.
  if (child.connected) child.disconnect();
  const late = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
  await ended;
  clearTimeout(late);
}
