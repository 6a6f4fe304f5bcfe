import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { scanCommand } from '../../src/cli/scan-command.ts';
import { type CraftedSeller, startCraftedSeller } from '../fixtures/origins/crafted-seller.ts';
import { freePort } from '../fixtures/service/free-port.ts';
import { folderPerFile } from '../fixtures/temp-folder.ts';
import { NEWER_VERSION } from '../scanner/scan/engine-under-test.ts';
import { type CliRun, runCli, runCommand } from './run-cli.ts';

const CATALOGS = ['2026-07-25.1', '2026-08-14.2'] as const;
const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const TIMEOUT_MS = 240_000;

let seller: CraftedSeller;
const folder = folderPerFile();
let recording: string;
/** The run of the command that made the recording. */
let liveRun: CliRun;
beforeAll(async () => {
  // Only S7 fails on this seller: it has no /llms.txt.
  seller = await startCraftedSeller({ answers: { '/llms.txt': { status: 404 } } });
  recording = folder.at('recording.json');
  liveRun = await scan('--format', 'json', '--save', recording);
}, TIMEOUT_MS);
afterAll(async () => {
  await seller?.[Symbol.asyncDispose]();
});

const scan = (...flags: readonly string[]) =>
  runCli(['scan', seller.url, '--allow-private', '--offline', ...flags]);
const replay = (...flags: readonly string[]) => runCli(['scan', '--from', recording, ...flags]);

describe('a finished scan', () => {
  test('prints the report, and nothing else without a terminal', () => {
    expect({ code: liveRun.code, stderr: liveRun.stderr }).toEqual({ code: 0, stderr: '' });
    const report = JSON.parse(liveRun.stdout);
    expect(report).toMatchObject({
      origin: seller.url,
      cache: 'miss',
      checksVersion: NEWER_VERSION,
      subScores: { protocol: 100, standing: null },
    });
    expect(report.results).toHaveLength(25);
    expect(report).not.toHaveProperty('timing');
    const failed = report.results.filter(({ status }: { status: string }) => status === 'fail');
    expect(failed.map(({ id }: { id: string }) => id)).toEqual(['S7']);
  });

  test('of a closed port has grade F and 25 results, and exits 0', async () => {
    const port = await freePort();
    const { code, stdout, stderr } = await runCli([
      'scan',
      `http://127.0.0.1:${port}`,
      '--allow-private',
      '--offline',
      '--format',
      'json',
    ]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const report = JSON.parse(stdout);
    expect(report).toMatchObject({ grade: 'F', score: 0 });
    expect(report.results).toHaveLength(25);
    expect(report.results[0]).toMatchObject({ id: 'P1', status: 'fail', basis: 'measured' });
  });

  test('has timing only if it was requested', async () => {
    const json = JSON.parse((await scan('--format', 'json', '--timing')).stdout);
    expect(Object.keys(json.timing)).toEqual([
      'gatherMs',
      'judgeMs',
      'totalMs',
      'requests',
      'roundTrips',
    ]);
    expect(json.timing.requests).toBeGreaterThan(10);
    const textRun = await scan('--timing');
    expect(textRun.stdout).toMatch(
      /^\n {2}(?:Yes|Partly|No|Only|Not)\b.*\n\n {2}[A-F] {2}\d+\/100/s,
    );
    expect(textRun.stdout).not.toContain('\u001b');
    expect(textRun.stderr).toMatch(
      /^gathered in \d+ ms, judged in \d+ ms, \d+ ms in all; \d+ requests, \d+ round trips deep\n$/,
    );
  });
});

describe('a recording', () => {
  test.each(CATALOGS)(
    'judged by catalog %s gives the same bytes each time',
    { timeout: TIMEOUT_MS },
    async (version) => {
      const flags = ['--format', 'json', '--checks-version', version];
      const [firstRun, secondRun] = [await replay(...flags), await replay(...flags)];
      expect(firstRun).toEqual(secondRun);
      expect({ code: firstRun.code, stderr: firstRun.stderr }).toEqual({ code: 0, stderr: '' });
      const report = JSON.parse(firstRun.stdout);
      expect(report).toMatchObject({ checksVersion: version, origin: seller.url });
      expect(report.scannedAt).toBe(JSON.parse(liveRun.stdout).scannedAt);
      expect(report.results).toHaveLength(25);
    },
  );

  test('accepts its own origin as an argument, and refuses another origin', async () => {
    const sameOrigin = await runCli(['scan', seller.url, '--from', recording, '--only', 'S7']);
    expect(sameOrigin.code).toBe(0);
    const otherOrigin = await runCli(['scan', 'https://api.example.com', '--from', recording]);
    expect(otherOrigin).toEqual({
      code: 2,
      stdout: '',
      stderr: `--from ${recording}: this is a scan of ${seller.url}, not of https://api.example.com\n`,
    });
  });
});

describe('thresholds', () => {
  test('that are missed make the command exit with 1 after it printed the whole report', async () => {
    const { code, stdout, stderr } = await replay(
      '--format',
      'json',
      '--fail-on',
      'fail',
      '--timing',
    );
    expect({ code, last: stderr.split('\n').at(-2) }).toEqual({
      code: 1,
      last: '--fail-on fail: S7',
    });
    expect(JSON.parse(stdout).results).toHaveLength(25);
  });

  test('apply to the printed results; grade and score stay those of the whole scan', async () => {
    const { code, stdout, stderr } = await runCommand(
      scanCommand,
      '--from',
      recording,
      '--only',
      'P*,d*',
      '--fail-on',
      'warn',
      '--format',
      'json',
    );
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const wholeReport = JSON.parse(liveRun.stdout);
    const report = JSON.parse(stdout);
    expect(report).toMatchObject({ grade: wholeReport.grade, score: wholeReport.score });
    expect(report.results.map(({ id }: { id: string }) => id)).toEqual([
      ...['P1', 'P2', 'P3', 'P4', 'P5', 'P6', 'P7', 'P8'],
      ...['D1', 'D2', 'D3', 'D4', 'D5'],
    ]);
  });

  test('apply to the grade', async () => {
    expect(JSON.parse(liveRun.stdout).grade).toBe('A');
    expect((await runCommand(scanCommand, '--from', recording, '--min-grade', 'A')).code).toBe(0);
    const worseFile = folder.at('worse.json');
    const worseRecording = JSON.parse(await readFile(recording, 'utf8'));
    const refusedConnection = { ok: false, reason: 'refused', detail: 'connection refused', ms: 1 };
    worseRecording.observations.openapi = refusedConnection;
    worseRecording.observations.resources.probed = [];
    await writeFile(worseFile, JSON.stringify(worseRecording));
    const { code, stdout, stderr } = await runCommand(
      scanCommand,
      '--from',
      worseFile,
      '--min-grade',
      'D',
    );
    expect({ code, stderr }).toEqual({ code: 1, stderr: 'grade F is below D\n' });
    expect(stdout).toContain('  F  ');
  });
});

describe('files', () => {
  test('are written whole even if a threshold is missed, and the report is not printed', async () => {
    const output = folder.at('report.sarif');
    const run = await replay('--format', 'sarif', '--output', output, '--fail-on', 'fail');
    expect(run).toEqual({ code: 1, stdout: '', stderr: '--fail-on fail: S7\n' });
    expect(JSON.parse(await readFile(output, 'utf8'))).toMatchObject({ version: '2.1.0' });
    expect((await readdir(folder.path)).filter((name) => name.endsWith('.part'))).toEqual([]);
  });

  test('that cannot be written make the command exit with 2 and one line after the scan', async () => {
    const earlierRequests = seller.requests.length;
    const saved = folder.at('saved.json');
    const output = folder.at('missing', 'report.json');
    const { code, stdout, stderr } = await scan('--output', output, '--save', saved);
    expect({ code, stdout, stderr }).toEqual({
      code: 2,
      stdout: '',
      stderr: `--output ${output}: cannot be written (its folder does not exist: create it first)\n`,
    });
    expect(seller.requests.length).toBeGreaterThan(earlierRequests + 10);
    // The observations are saved, and `--from` can judge them.
    expect(JSON.parse(await readFile(saved, 'utf8'))).toMatchObject({ schemaVersion: 2 });
  });
});

test('scan exits with 0 if the reader of its output closes the pipe early', async () => {
  const child = spawn(process.execPath, ['src/cli/main.ts', 'scan', '--from', recording], {
    cwd: ROOT,
    env: { PATH: process.env['PATH'] },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  child.stdout.destroy();
  const [stderr, [code]] = await Promise.all([text(child.stderr), once(child, 'close')]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
});
