/** On a signal, `npm run test:crash` ends the processes that it started and removes its files. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempDisposableSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { needs } from '../fixtures/needs.ts';

const RUN = fileURLToPath(new URL('../soak/run.ts', import.meta.url));
const isLinux = process.platform === 'linux';

function listChildren(pid: number): readonly number[] {
  const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
  return text === '' ? [] : text.split(' ').map(Number);
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

test.each([
  ['SIGTERM', 143],
  ['SIGINT', 130],
] as const)(
  '%s ends the service, removes its files, and gives the exit code %i',
  {
    timeout: 120_000,
    ...needs(isLinux ? null : 'children of a process are read from /proc'),
  },
  async (signal, code) => {
    using folder = mkdtempDisposableSync(join(tmpdir(), 'crash-signals-'));
    const main = spawn(process.execPath, [RUN, 'crash', '--kills', '1'], {
      env: { ...process.env, TMPDIR: folder.path },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const exited = once(main, 'exit');
    try {
      await once(createInterface({ input: main.stdout }), 'line');
      await expect.poll(() => listChildren(main.pid ?? 0).length).toBeGreaterThan(0);
      const children = listChildren(main.pid ?? 0);
      main.kill(signal);
      expect(await exited).toEqual([code, null]);
      await expect.poll(() => children.filter(isRunning)).toEqual([]);
      // The compile cache is kept for the next run.
      expect(readdirSync(folder.path).filter((name) => !name.endsWith('compile-cache'))).toEqual(
        [],
      );
    } finally {
      main.kill('SIGKILL');
    }
  },
);
