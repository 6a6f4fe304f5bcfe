/** The README of the paid path lists the steps that the code has. */
import { spawnSync } from 'node:child_process';
import {
  cpSync,
  mkdtempDisposableSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { mayFollow } from '../../../src/service/payment/ledger/ledger-writer.ts';
import { LEDGER_STATES } from '../../../src/service/store/payment-tables.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const PAYMENT_FOLDER = join(ROOT, 'src/service/payment');
const README = readFileSync(join(PAYMENT_FOLDER, 'README.md'), 'utf8');

const codesIn = (text: string) => [...text.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code);

const sourcesIn = (room: string) =>
  readdirSync(join(PAYMENT_FOLDER, room)).filter((name) => name.endsWith('.ts'));

/** Rows of the table of steps: step, writers, followers, what the payer is told, tests. */
const rows = README.split('\n')
  .filter((line) => /^\| (`|\(none\))/.test(line))
  .map((line) => line.split('|').slice(1, -1));

describe('the README of the paid path', () => {
  test('names every file of a paid call and of the ledger, and no missing file', () => {
    const files = ['.', 'gate', 'ledger'].flatMap(sourcesIn);
    const namedFiles = codesIn(README).flatMap(
      (code) => /^(?:[a-z]+\/)?([a-z0-9-]+\.ts)$/.exec(code)?.[1] ?? [],
    );
    expect(files.filter((file) => !namedFiles.includes(file))).toEqual([]);
    const existing = [...files, ...sourcesIn('settle'), ...sourcesIn('chain')];
    expect(namedFiles.filter((file) => !existing.includes(file))).toEqual([]);
  });

  test('has a row for every state, with the same next states as the ledger', () => {
    expect(rows).toHaveLength(LEDGER_STATES.length + 1);
    for (const state of ['none' as const, ...LEDGER_STATES]) {
      const row = rows.find(([step = '']) =>
        step.includes(state === 'none' ? '(none)' : `\`${state}\``),
      );
      const followers = LEDGER_STATES.filter((next) => mayFollow(state, next));
      expect(codesIn(row?.[2] ?? '').toSorted(), state).toEqual(followers.toSorted());
    }
  });

  test('names only writers and tests that exist', () => {
    // A suite may name its project before `.test.ts`.
    const files = readdirSync(join(ROOT, 'test/service/payment'));
    const suites = files
      .filter((file) => file.endsWith('.test.ts'))
      .map((file) => file.split('.')[0]);
    for (const [step, writers = '', , , tests = ''] of rows) {
      for (const file of codesIn(writers)) {
        const name = file.split('/').at(-1);
        expect(['gate', 'ledger', 'settle'].flatMap(sourcesIn), step).toContain(name);
      }
      for (const name of codesIn(tests)) {
        expect(suites, step).toContain(name);
      }
    }
  });
});

test('a new state of the ledger does not compile until each place handles it', {
  timeout: 120_000,
}, () => {
  using folder = mkdtempDisposableSync(join(tmpdir(), 'steps-'));
  for (const name of ['src', 'plugins', 'tsconfig.json', 'package.json']) {
    cpSync(join(ROOT, name), join(folder.path, name), { recursive: true });
  }
  for (const name of ['node_modules', 'checks', 'catalog']) {
    symlinkSync(join(ROOT, name), join(folder.path, name), 'dir');
  }
  const tablesFile = join(folder.path, 'src/service/store/payment-tables.ts');
  const source = readFileSync(tablesFile, 'utf8');
  writeFileSync(tablesFile, source.replace("  | 'claimed'\n", "  | 'claimed'\n  | 'refunded'\n"));
  writeFileSync(
    join(folder.path, 'tsconfig.payment.json'),
    JSON.stringify({
      extends: './tsconfig.json',
      compilerOptions: { noEmit: true, incremental: false },
      include: ['src/service/payment/**/*.ts', 'src/service/store/**/*.ts'],
    }),
  );
  const compiler = join(ROOT, 'node_modules/typescript/bin/tsc');
  const { stdout } = spawnSync(process.execPath, [compiler, '-p', 'tsconfig.payment.json'], {
    cwd: folder.path,
    encoding: 'utf8',
  });
  const filesWithErrors = [...stdout.matchAll(/^(src\/[^(]+)\(\d+/gm)].map(([, file]) => file);
  expect([...new Set(filesWithErrors)].toSorted()).toEqual([
    'src/service/payment/ledger/recovery.ts',
    'src/service/store/payment-tables.ts',
  ]);
});
