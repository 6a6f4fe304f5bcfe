import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { backupStore, openStore, restoreStore } from '../../src/store/open-store.ts';
import { ledgerStep, publishedScan } from './contract/samples.ts';

let folder: string;
let url: string;
let backup: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'backup-'));
  url = `sqlite:${join(folder, 'scanner.db')}`;
  backup = join(folder, 'kept', 'monday.db');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

async function fill(hosts: readonly string[]) {
  const store = await openStore(url);
  for (const host of hosts) {
    await store.publish(publishedScan({ host }));
    await store.ledger.append(ledgerStep(host, 1, 'claimed'));
  }
  return store;
}

test('a backup of a store in use has all written rows, and can be restored', async () => {
  const store = await fill(['a.com', 'b.com']);
  expect(backupStore(url, backup)).toEqual({ hosts: 2, payments: 2 });
  await store.publish(publishedScan({ host: 'later.com' }));
  expect(() => restoreStore(url, backup)).toThrow(expect.objectContaining({ code: 'locked' }));
  await store.close();

  expect(() => restoreStore(url, backup)).toThrow(/scanner\.db would be overwritten: move it away/);
  const other = `sqlite:${join(folder, 'other', 'scanner.db')}`;
  expect(restoreStore(other, backup)).toEqual({ hosts: 2, payments: 2 });
  const restored = await openStore(other);
  expect(await restored.directory.get('b.com')).toMatchObject({ scanCount: 1 });
  expect(await restored.directory.get('later.com')).toBeNull();
  expect(await restored.ledger.append(ledgerStep('a.com', 2, 'released'))).toBe('won');
  await restored.close();
});

test('a file that is not a whole store of ours is refused by name, and no file is left behind', async () => {
  await (await fill(['a.com'])).close();
  const target = `sqlite:${join(folder, 'target.db')}`;
  const refused = (work: () => unknown, code: string, said: RegExp) => {
    expect(work).toThrow(expect.objectContaining({ code, message: expect.stringMatching(said) }));
  };
  refused(() => restoreStore(target, backup), 'unavailable', /no backup at .*monday\.db/);
  backupStore(url, backup);
  refused(() => backupStore(url, backup), 'conflict', /monday\.db is there already/);
  refused(() => backupStore(target, join(folder, 'x')), 'unavailable', /no store at .*target\.db/);
  refused(() => backupStore('mongodb://db/x', backup), 'bad_url', /mongodump/);

  const letter = join(folder, 'letter.txt');
  writeFileSync(letter, 'a letter to my aunt, of some length\n'.repeat(200));
  refused(() => restoreStore(target, letter), 'corrupt', /letter/);
  const damaged = join(folder, 'damaged.db');
  writeFileSync(damaged, readFileSync(backup));
  truncateSync(damaged, 3 * 4_096);
  refused(() => restoreStore(target, damaged), 'corrupt', /damaged/);
  await (await openStore(target)).close();
});

test('the commands take one file, print the result, and exit with 1 or 2 on a failure', async () => {
  await (await fill(['a.com'])).close();
  const run = (command: string, ...files: readonly string[]) => {
    const entry = join(import.meta.dirname, '../../src/service/store-file.ts');
    const settings = { PATH: process.env['PATH'], STORE_URL: url };
    const options = { cwd: folder, env: settings, encoding: 'utf8' } as const;
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      [entry, command, ...files],
      options,
    );
    return { status, said: stdout + stderr };
  };
  expect(run('backup')).toMatchObject({ status: 2, said: expect.stringContaining('-- FILE') });
  expect(run('backup', backup)).toMatchObject({
    status: 0,
    said: expect.stringContaining('1 hosts, 1 payments'),
  });
  expect(run('restore', backup)).toMatchObject({
    status: 1,
    said: expect.stringContaining('move it away first'),
  });
});
