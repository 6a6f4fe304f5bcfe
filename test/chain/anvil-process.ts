/** Starts and stops the local chain's process. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';
import { findExecutable } from '../find-executable.ts';

const PACKAGE = '@foundry-rs/anvil-linux-amd64';
const START_TIMEOUT_MS = 60_000;

export interface AnvilProcess {
  rpcUrl: string;
  stop(): Promise<void>;
}

/** Why no local chain can run on this machine, or null where one can. */
export function chainUnavailable(): string | null {
  if (anvilPath() !== null) return null;
  return `no anvil: ${PACKAGE} comes with "npm ci" on Linux x64; elsewhere put anvil on the PATH`;
}

/** An empty chain on a free port of 127.0.0.1 that mines each transaction at once. */
export async function startAnvil(chainId: number): Promise<AnvilProcess> {
  const anvil = anvilPath();
  if (anvil === null) throw new Error(`The local chain cannot start: ${chainUnavailable()}`);

  const child = spawn(anvil, ['--chain-id', String(chainId), '--port', '0'], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const exited = once(child, 'exit');
  // The chain must not outlive a run that ends without stopping it.
  const kill = () => child.kill('SIGKILL');
  process.once('exit', kill);

  const said: string[] = [];
  createInterface({ input: child.stderr }).on('line', (line) => said.push(line));
  const port = new Promise<string>((resolve) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      const [, digits] = /^Listening on .*:(\d+)$/.exec(line) ?? [];
      if (digits !== undefined) resolve(digits);
    });
  });
  const failed = exited.then(() => {
    throw new Error(`anvil ended before it listened: ${said.join(' ') || 'without a word'}`);
  });
  // After the start its end is expected, and nobody waits for it here.
  failed.catch(() => {});

  async function stop(): Promise<void> {
    process.off('exit', kill);
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
    await exited;
  }

  const { promise: late, timer } = timeout(START_TIMEOUT_MS);
  try {
    return { rpcUrl: `http://127.0.0.1:${await Promise.race([port, failed, late])}`, stop };
  } catch (error) {
    await stop();
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

function anvilPath(): string | null {
  try {
    return createRequire(import.meta.url).resolve(`${PACKAGE}/bin/anvil`);
  } catch {
    return findExecutable('anvil');
  }
}

function timeout(timeoutMs: number) {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => reject(new Error(`anvil did not listen within ${timeoutMs / 1000} s`)),
    timeoutMs,
  );
  return { promise, timer };
}
