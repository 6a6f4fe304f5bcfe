/** Thousands of connections that send nothing do not stop the service. */
import { execFileSync, spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { needs } from '../../../fixtures/needs.ts';

const CONNECTIONS = 5_000;
/** One process has both ends of each connection open, and some files of its own. */
const OPEN_FILES = 2 * CONNECTIONS + 500;
const CHILD = fileURLToPath(new URL('./idle-connections-child.ts', import.meta.url));

function findMissingFileLimit(): string | null {
  const { status, stdout } = spawnSync('sh', ['-c', 'ulimit -Hn'], { encoding: 'utf8' });
  const hardLimit = stdout?.trim();
  if (status !== 0) return 'a POSIX shell';
  if (hardLimit === 'unlimited' || Number(hardLimit) >= OPEN_FILES) return null;
  return `${OPEN_FILES} open files (ulimit -Hn is ${hardLimit})`;
}

describe('5,000 idle connections', needs(findMissingFileLimit()), () => {
  test('take little memory, and every other client gets an answer', () => {
    const command = `ulimit -n ${OPEN_FILES} && exec "$0" "$1" "$2"`;
    const output = execFileSync(
      'sh',
      ['-c', command, process.execPath, CHILD, String(CONNECTIONS)],
      {
        encoding: 'utf8',
        timeout: 120_000,
        env: { ...process.env, NODE_OPTIONS: '', NODE_NO_WARNINGS: '1' },
      },
    );
    const {
      held: openConnections,
      statuses,
      grownMiB,
    } = JSON.parse(output.trim().split('\n').at(-1) ?? '');
    expect(openConnections).toBeGreaterThanOrEqual(CONNECTIONS);
    expect(statuses).toEqual([200, 200, 200]);
    // The process holds both ends of each connection, so the memory of both ends counts.
    expect(grownMiB).toBeLessThan(400);
  }, 180_000);
});
