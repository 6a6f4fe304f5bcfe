import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { arm } from '../../fixtures/failpoints.ts';

const FAILPOINTS_MODULE = new URL('../../fixtures/failpoints.ts', import.meta.url).href;
const STEPS_MODULE = new URL('../../../src/service/payment/gate/purchase.ts', import.meta.url).href;

/** Runs a child process that passes the failpoints `names` while `failpoint` is armed. Returns what it passed. */
function runWith(failpoint: string, names: readonly string[]) {
  const program = `
    const { publishStep } = await import(${JSON.stringify(STEPS_MODULE)});
    for (const name of ${JSON.stringify(names)}) { publishStep({ name }); console.log(name); }`;
  const { stdout, signal } = spawnSync(
    process.execPath,
    ['--import', FAILPOINTS_MODULE, '--input-type=module', '--eval', program],
    {
      encoding: 'utf8',
      env: { ...process.env, NODE_OPTIONS: '', X402_TEST_FAILPOINT: failpoint },
    },
  );
  return { passed: stdout.trim().split('\n').filter(Boolean), signal };
}

describe('a failpoint', () => {
  test('that is not armed does nothing', () => {
    expect(runWith('', ['claimed', 'computed'])).toEqual({
      passed: ['claimed', 'computed'],
      signal: null,
    });
  });

  test('that does not exist is refused, and the message lists the existing failpoints', () => {
    expect(() => arm('nowhere')).toThrow(/parsed, claimed, verified/);
  });

  test('kills the process when the process passes it', () => {
    expect(runWith('computed', ['claimed', 'computed', 'parsed'])).toEqual({
      passed: ['claimed'],
      signal: 'SIGKILL',
    });
  });

  test('can be armed as the nth passing of any failpoint', () => {
    expect(runWith('any:3', ['parsed', 'parsed', 'claimed', 'verified'])).toEqual({
      passed: ['parsed', 'parsed'],
      signal: 'SIGKILL',
    });
  });

  test('can be armed once by a file while the process runs', () => {
    const folder = mkdtempSync(join(tmpdir(), 'failpoints-'));
    try {
      const file = join(folder, 'armed');
      expect(runWith(`@${file}`, ['claimed'])).toEqual({ passed: ['claimed'], signal: null });
      writeFileSync(file, 'claimed:2');
      expect(runWith(`@${file}`, ['claimed', 'verified', 'claimed'])).toEqual({
        passed: ['claimed', 'verified'],
        signal: 'SIGKILL',
      });
      expect(existsSync(file)).toBe(false);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
