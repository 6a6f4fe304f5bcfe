import { spawn } from 'node:child_process';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import type { Streams } from '../../src/cli/io.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

export type CliRun = {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
};

/** Runs the command line in a new process, with `environment` and `PATH` only, in the root folder. */
export async function runCli(
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<CliRun> {
  const child = spawn(process.execPath, ['src/cli/main.ts', ...args], {
    cwd: ROOT,
    env: { PATH: process.env['PATH'], ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [stdout, stderr, code] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    new Promise<number>((resolve, reject) => {
      child.once('error', reject);
      child.once('close', (status, signal) => {
        if (status !== null) return resolve(status);
        reject(new Error(`scan ${args.join(' ')} was ended by ${signal}`));
      });
    }),
  ]);
  return { code, stdout, stderr };
}

type Command = (args: readonly string[], streams: Streams) => Promise<number>;

/**
 * Runs a command in this process, which is faster than a new process. Its streams are not a terminal. Rejects with the
 * error of the command.
 */
export async function runCommand(command: Command, ...args: readonly string[]): Promise<CliRun> {
  const [out, err] = [new PassThrough(), new PassThrough()];
  // A command uses members that only a terminal has only if `isTTY` is true, and it is not.
  const code = await command(args, { out, err } as unknown as Streams);
  const read = (stream: PassThrough) => String(stream.read() ?? '');
  return { code, stdout: read(out), stderr: read(err) };
}
