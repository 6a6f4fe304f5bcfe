import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';

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
