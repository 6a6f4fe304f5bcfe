import { spawnSync } from 'node:child_process';
import { readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { backupStore, openStore, restoreStore } from '../../../src/service/store/open-store.ts';
import { folderPerTest } from '../../fixtures/temp-folder.ts';
import { ledgerStep, publishedScan } from './contract/samples.ts';

const folder = folderPerTest();
let storeUrl: string;
let backupFile: string;

beforeEach(() => {
  storeUrl = `sqlite:${folder.at('scanner.db')}`;
  backupFile = folder.at('kept', 'monday.db');
});

async function openFilledStore(hosts: readonly string[]) {
  const store = await openStore(storeUrl);
  for (const host of hosts) {
    await store.publish(publishedScan({ host }));
    await store.ledger.append(ledgerStep(host, 1, 'claimed'));
  }
  return store;
}

test('a backup of a store in use has all written rows, and can be restored', async () => {
  const store = await openFilledStore(['a.com', 'b.com']);
  expect(backupStore(storeUrl, backupFile)).toEqual({ hosts: 2, payments: 2 });
  await store.publish(publishedScan({ host: 'later.com' }));
  expect(() => restoreStore(storeUrl, backupFile)).toThrow(
    expect.objectContaining({ code: 'locked' }),
  );
  await store.close();

  expect(() => restoreStore(storeUrl, backupFile)).toThrow(
    /scanner\.db would be overwritten: move it away/,
  );
  const otherUrl = `sqlite:${folder.at('other', 'scanner.db')}`;
  expect(restoreStore(otherUrl, backupFile)).toEqual({ hosts: 2, payments: 2 });
  const restored = await openStore(otherUrl);
  expect(await restored.directory.get('b.com')).toMatchObject({ scanCount: 1 });
  expect(await restored.directory.get('later.com')).toBeNull();
  expect(await restored.ledger.append(ledgerStep('a.com', 2, 'released'))).toBe('won');
  await restored.close();
});

test('backup and restore name a file that they refuse, and leave no file behind', async () => {
  await (await openFilledStore(['a.com'])).close();
  const targetUrl = `sqlite:${folder.at('target.db')}`;
  const expectRefusal = (work: () => unknown, code: string, text: RegExp) => {
    expect(work).toThrow(expect.objectContaining({ code, message: expect.stringMatching(text) }));
  };
  expectRefusal(
    () => restoreStore(targetUrl, backupFile),
    'unavailable',
    /no backup at .*monday\.db/,
  );
  backupStore(storeUrl, backupFile);
  expectRefusal(() => backupStore(storeUrl, backupFile), 'conflict', /monday\.db is there already/);
  expectRefusal(
    () => backupStore(targetUrl, folder.at('x')),
    'unavailable',
    /no store at .*target\.db/,
  );
  expectRefusal(() => backupStore('mongodb://db/x', backupFile), 'bad_url', /mongodump/);

  const textFile = folder.at('letter.txt');
  writeFileSync(textFile, 'a letter to my aunt, of some length\n'.repeat(200));
  expectRefusal(() => restoreStore(targetUrl, textFile), 'corrupt', /letter/);
  const damaged = folder.at('damaged.db');
  writeFileSync(damaged, readFileSync(backupFile));
  truncateSync(damaged, 3 * 4_096);
  expectRefusal(() => restoreStore(targetUrl, damaged), 'corrupt', /damaged/);
  await (await openStore(targetUrl)).close();
});

test('the commands backup and restore take one file, print the result, and exit with 1 or 2 on a failure', async () => {
  await (await openFilledStore(['a.com'])).close();
  const run = (command: string, ...files: readonly string[]) => {
    const entry = join(import.meta.dirname, '../../../src/service/start/store-file.ts');
    const settings = { PATH: process.env['PATH'], STORE_URL: storeUrl };
    const options = { cwd: folder.path, env: settings, encoding: 'utf8' } as const;
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      [entry, command, ...files],
      options,
    );
    return { status, output: stdout + stderr };
  };
  expect(run('backup')).toMatchObject({ status: 2, output: expect.stringContaining('-- FILE') });
  expect(run('backup', backupFile)).toMatchObject({
    status: 0,
    output: expect.stringContaining('1 hosts, 1 payments'),
  });
  expect(run('restore', backupFile)).toMatchObject({
    status: 1,
    output: expect.stringContaining('move it away first'),
  });
});
