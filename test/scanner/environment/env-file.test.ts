/** `.env` as users have it: absent, a folder, unreadable, with a byte order mark. */

import { spawn } from 'node:child_process';
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { loadEnvFile } from '../../../src/scanner/environment/env-file.ts';
import { freePort } from '../../fixtures/service/free-port.ts';
import { folderPerTest } from '../../fixtures/temp-folder.ts';

const CLI = fileURLToPath(new URL('../../../src/cli/main.ts', import.meta.url));
const SERVICE = fileURLToPath(new URL('../../../src/main.ts', import.meta.url));
const BACKUP = fileURLToPath(new URL('../../../src/service/start/store-file.ts', import.meta.url));
const UNREADABLE = /^\.env is there but cannot be read \(ELOOP\)\. [^\n]*\n$/;

const folder = folderPerTest();

/** A link to itself, which not even root can read. */
const makeUnreadable = () => symlink('.env', folder.at('.env'));

async function run(...args: readonly string[]) {
  const child = spawn(process.execPath, args, {
    cwd: folder.path,
    env: { PATH: process.env['PATH'] },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [stdout, stderr, code] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    new Promise((resolve) => child.once('close', resolve)),
  ]);
  return { stdout, stderr, code };
}

/** Loads `.env` of the folder into an environment that has `SET` already. */
function load() {
  const cwd = process.cwd();
  const environment: NodeJS.ProcessEnv = { SET: 'before' };
  process.chdir(folder.path);
  try {
    return { names: loadEnvFile(environment), environment };
  } finally {
    process.chdir(cwd);
  }
}

describe('the variables of .env', () => {
  test.each([
    ['UTF-8', Buffer.from('PORT=0\nSET=after\n')],
    ['UTF-8 with a byte order mark', Buffer.from('\ufeffPORT=0\r\nSET=after\r\n')],
    ['UTF-16, as PowerShell writes it', Buffer.from('\ufeffPORT=0\r\nSET=after', 'utf16le')],
    ['UTF-16, big-endian', Buffer.from('\ufeffPORT=0\nSET=after', 'utf16le').swap16()],
  ])('are read from %s, and never replace others', async (_name, bytes) => {
    await writeFile(folder.at('.env'), bytes);
    expect(load()).toEqual({ names: ['PORT'], environment: { SET: 'before', PORT: '0' } });
  });

  test('are none if there is no file, or a folder', async () => {
    expect(load().names).toEqual([]);
    await mkdir(folder.at('.env'));
    expect(load().names).toEqual([]);
  });
});

describe('a folder .env', () => {
  test('gives no error on the command line', async () => {
    await mkdir(folder.at('.env'));
    expect(await run(CLI, 'explain', 'P1')).toMatchObject({ code: 0, stderr: '' });
  });
});

describe('a .env that cannot be read', () => {
  test('is a warning of the command line, whose exit code is that of its work', async () => {
    await makeUnreadable();
    const { stderr, code } = await run(CLI, 'explain', 'P1');
    expect(stderr).toMatch(/^warning: \.env is there but cannot be read \(ELOOP\)\. [^\n]*\n$/);
    expect(code).toBe(0);
    expect((await run(CLI, 'scan', 'file:///x')).code).toBe(2);
  });

  test.each([
    ['service', [SERVICE]],
    ['backup', [BACKUP, 'backup', 'copy.db']],
  ])('stops the %s with one line', async (_name, args) => {
    await makeUnreadable();
    const { stderr, code } = await run(...args);
    expect(stderr).toMatch(UNREADABLE);
    expect(code).toBe(1);
  });
});

test('pay-test leaves the variables of .env to the seller, whose .env.local counts more', async () => {
  await writeFile(folder.at('.env'), 'PRICE=1\nPLAIN=1\nFACILITATOR_URL=https://other.example\n');
  await writeFile(folder.at('.env.local'), 'PRICE=2\n');
  // As frameworks do: the environment counts more than .env.local, and .env.local more than .env.
  const seller = `
    const { writeFileSync } = require('node:fs');
    for (const file of ['.env.local', '.env']) process.loadEnvFile(file);
    const { PRICE, PLAIN, FACILITATOR_URL } = process.env;
    writeFileSync('seen.json', JSON.stringify([PRICE, PLAIN, FACILITATOR_URL]));
  `;
  await writeFile(folder.at('seller.cjs'), seller);
  const origin = `http://127.0.0.1:${await freePort()}`;
  const { code } = await run(
    CLI,
    'pay-test',
    origin,
    '--start',
    `"${process.execPath}" seller.cjs`,
  );
  expect(code).toBe(2);
  const seen = JSON.parse(await readFile(folder.at('seen.json'), 'utf8'));
  expect(seen).toEqual(['2', '1', expect.stringMatching(/^http:\/\/127\.0\.0\.1:/)]);
});
