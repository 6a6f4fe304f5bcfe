/** A server in a process of its own, its lines in a file, its processor time from the kernel. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

/** Linux counts processor time for programs in hundredths of a second. */
const TICKS_PER_SECOND = 100;

export type ServerProcess = AsyncDisposable & {
  readonly name: string;
  readonly port: number;
  /** Seconds that all its threads have computed. */
  processorSeconds(): Promise<number>;
};

export type ServerCommand = {
  readonly name: string;
  readonly args: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  /** Folder for its output. */
  readonly folder: string;
  /** Answers its port once it listens. */
  readonly portIn: (output: string) => number | null;
};

export async function startServer(command: ServerCommand): Promise<ServerProcess> {
  const { name, folder, args, environment = {}, portIn } = command;
  const file = join(folder, `${name}.log`);
  const output = await open(file, 'w');
  const child = spawn(process.execPath, args, {
    env: { PATH: process.env['PATH'], ...environment },
    stdio: ['ignore', output.fd, output.fd],
  });
  const exited = once(child, 'exit');
  const atExit = () => child.kill('SIGKILL');
  process.once('exit', atExit);
  await output.close();
  const port = await portOf(child, file, portIn);
  return {
    name,
    port,
    processorSeconds: () => secondsOf(child),
    [Symbol.asyncDispose]: async () => {
      process.off('exit', atExit);
      child.kill('SIGKILL');
      await exited;
    },
  };
}

async function portOf(
  child: ChildProcess,
  file: string,
  portIn: ServerCommand['portIn'],
): Promise<number> {
  for (;;) {
    const text = await readFile(file, 'utf8');
    const port = portIn(text);
    if (port !== null) return port;
    if (child.exitCode !== null) throw new Error(`a server ended: ${text}`);
    await pause(50);
  }
}

async function secondsOf({ pid }: ChildProcess): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
  // The name of the program may hold spaces; it ends with the last parenthesis.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}
