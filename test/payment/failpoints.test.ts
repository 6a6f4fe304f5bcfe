import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { FAILPOINTS, NO_FAILPOINTS, readFailpoints } from '../../src/payment/failpoints.ts';

const MODULE = fileURLToPath(new URL('../../src/payment/failpoints.ts', import.meta.url));

/** Passes these points in a process of its own, and says how far it got. */
function passIn(environment: Record<string, string>, names: readonly string[]) {
  const program = `
    const { readFailpoints } = await import(${JSON.stringify(MODULE)});
    const failpoints = readFailpoints(process.env);
    for (const name of ${JSON.stringify(names)}) { failpoints.pass(name); console.log(name); }`;
  const { stdout, signal } = spawnSync(
    process.execPath,
    ['--input-type=module', '--eval', program],
    { encoding: 'utf8', env: { ...process.env, NODE_OPTIONS: '', ...environment } },
  );
  return { passed: stdout.trim().split('\n').filter(Boolean), signal };
}

describe('a failpoint', () => {
  test.each([
    { NODE_ENV: 'production', X402_TEST_FAILPOINT: 'claimed' },
    { X402_TEST_FAILPOINT: 'claimed' },
    { NODE_ENV: 'test' },
    { NODE_ENV: 'test', X402_TEST_FAILPOINT: '' },
  ])('is nothing under %o', (environment) => {
    expect(readFailpoints(environment)).toBe(NO_FAILPOINTS);
    expect(NO_FAILPOINTS.isArmed).toBe(false);
    for (const name of FAILPOINTS) NO_FAILPOINTS.pass(name);
  });

  test('that does not exist is refused, with those that do', () => {
    const wrong = { NODE_ENV: 'test', X402_TEST_FAILPOINT: 'nowhere' };
    expect(() => readFailpoints(wrong)).toThrow(/parsed, claimed, verified/);
  });

  test('kills the process where it stands', () => {
    const environment = { NODE_ENV: 'test', X402_TEST_FAILPOINT: 'computed' };
    expect(passIn(environment, ['claimed', 'computed', 'parsed'])).toEqual({
      passed: ['claimed'],
      signal: 'SIGKILL',
    });
  });

  test('may be the nth of any', () => {
    const environment = { NODE_ENV: 'test', X402_TEST_FAILPOINT: 'any:3' };
    expect(passIn(environment, ['parsed', 'parsed', 'claimed', 'verified'])).toEqual({
      passed: ['parsed', 'parsed'],
      signal: 'SIGKILL',
    });
  });

  test('may be armed by a file while the process runs, once', () => {
    const folder = mkdtempSync(join(tmpdir(), 'failpoints-'));
    try {
      const file = join(folder, 'wish');
      const environment = { NODE_ENV: 'test', X402_TEST_FAILPOINT: `@${file}` };
      expect(passIn(environment, ['claimed'])).toEqual({ passed: ['claimed'], signal: null });
      writeFileSync(file, 'claimed:2');
      expect(passIn(environment, ['claimed', 'verified', 'claimed'])).toEqual({
        passed: ['claimed', 'verified'],
        signal: 'SIGKILL',
      });
      expect(existsSync(file)).toBe(false);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
