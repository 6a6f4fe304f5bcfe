/** Thousands of connections that ask for nothing. */
import { execFileSync, spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { needs } from '../../fixtures/needs.ts';

const COUNT = 5_000;
/** Both ends are in one process, beside what it has open anyway. */
const FILES = 2 * COUNT + 500;
const CHILD = fileURLToPath(new URL('./idle-connections-child.ts', import.meta.url));

function filesUnavailable(): string | null {
  const { status, stdout } = spawnSync('sh', ['-c', 'ulimit -Hn'], { encoding: 'utf8' });
  const hard = stdout?.trim();
  if (status !== 0) return 'a POSIX shell';
  if (hard === 'unlimited' || Number(hard) >= FILES) return null;
  return `${FILES} open files (ulimit -Hn is ${hard})`;
}

describe('5,000 idle connections', needs(filesUnavailable()), () => {
  test('take some KiB each, and every other client gets an answer', () => {
    const raised = `ulimit -n ${FILES} && exec "$0" "$1" "$2"`;
    const printed = execFileSync('sh', ['-c', raised, process.execPath, CHILD, String(COUNT)], {
      encoding: 'utf8',
      timeout: 120_000,
      env: { ...process.env, NODE_OPTIONS: '', NODE_NO_WARNINGS: '1' },
    });
    const { held, statuses, grownMiB } = JSON.parse(printed.trim().split('\n').at(-1) ?? '');
    expect(held).toBeGreaterThanOrEqual(COUNT);
    expect(statuses).toEqual([200, 200, 200]);
    // Of both ends.
    expect(grownMiB).toBeLessThan(400);
  }, 180_000);
});
