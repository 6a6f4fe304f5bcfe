/** `capture` writes a recording without secrets and long texts. Each check gives the same result on the shortened recording. */

import { readFile, stat } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { captureCommand } from '../../src/cli/capture-command.ts';
import { scanCommand } from '../../src/cli/scan-command.ts';
import { startCraftedSeller } from '../fixtures/origins/crafted-seller.ts';
import { folderPerTest } from '../fixtures/temp-folder.ts';
import { runCommand } from './run-cli.ts';

const SECRETS = [
  'Bearer abcdefgh12345678',
  'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl',
  'sk_live_0123456789abcdef',
  'session=4711',
];

const folder = folderPerTest();

const readFromFolder = async (name: string) => readFile(folder.at(name), 'utf8');

async function replayOutcomes(recording: string): Promise<unknown> {
  const args = ['--from', folder.at(recording), '--format', 'json'];
  const { grade, score, results } = JSON.parse((await runCommand(scanCommand, ...args)).stdout);
  return [grade, score, results.map((result: { outcome: string }) => result.outcome)];
}

test('capture removes secrets, foreign headers and long texts, and keeps the verdict', async () => {
  const page = `<html><head><title>A</title></head><body><a href="/openapi.json">API</a>${'<p>x</p>'.repeat(20_000)}</body></html>`;
  await using seller = await startCraftedSeller({
    answers: {
      'GET /': {
        status: 200,
        headers: {
          'content-type': 'text/html',
          'set-cookie': SECRETS[3] ?? '',
          'x-trace': 'trace-0815',
        },
        body: `${page}<!-- ${SECRETS.slice(0, 3).join(' ')} -->`,
      },
    },
  });
  const wholeFile = folder.at('whole.json');
  const flags = ['--allow-private', '--offline'];
  await runCommand(scanCommand, seller.url, ...flags, '--save', wholeFile);
  const files = ['--from', wholeFile, '--output', folder.at('small.json')];
  const { code, stdout } = await runCommand(captureCommand, ...files);
  expect(code).toBe(0);

  const [before, after] = [await readFromFolder('whole.json'), await readFromFolder('small.json')];
  for (const secret of [...SECRETS, 'trace-0815']) {
    expect(before).toContain(secret);
    expect(after).not.toContain(secret);
  }
  expect(after.length).toBeLessThan(before.length / 2);
  expect(await replayOutcomes('small.json')).toEqual(await replayOutcomes('whole.json'));
  expect(stdout).toContain('Every check gives the same result as for the whole recording.');
});

test('capture scans the origin itself', async () => {
  const file = folder.at('f.json');
  const args = ['http://127.0.0.1:1', '--allow-private', '--offline', '--output', file];
  const { code, stdout } = await runCommand(captureCommand, ...args);
  expect(code).toBe(0);
  expect((await stat(file)).size).toBeGreaterThan(0);
  expect(stdout).toContain('0 secrets removed');
  expect(await replayOutcomes('f.json')).toEqual(['F', 0, expect.any(Array)]);
});

test.each([
  [[]],
  [['https://api.example.com']],
  [['--output', 'a.json']],
  [['https://a.example', '--from', 'b.json', '--output', 'c.json']],
])('capture refuses %j with the usage', async (args) => {
  await expect(runCommand(captureCommand, ...args)).rejects.toThrow('usage: ');
});
