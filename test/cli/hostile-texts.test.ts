/** Our commands print texts of strangers. These texts must not control a pipeline or a terminal. */

import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { diffCommand } from '../../src/cli/diff-command.ts';
import { FORMATS } from '../../src/cli/formatters/formats.ts';
import { preflightCommand } from '../../src/cli/preflight-command.ts';
import { scanCommand } from '../../src/cli/scan-command.ts';
import { challengeAnswer, challengeOf, offerOf } from '../fixtures/origins/crafted-challenge.ts';
import { startCraftedSeller } from '../fixtures/origins/crafted-seller.ts';
import { WEATHER } from '../fixtures/sellers/seller-documents.ts';
import { folderPerFile } from '../fixtures/temp-folder.ts';
import { FAILED, printable } from './printable.ts';
import { runCli, runCommand } from './run-cli.ts';

const RECORDING = new URL(
  '../fixtures/origins/recorded/express-v2-as-it-comes.json',
  import.meta.url,
);
const HOSTILE = '##vso[task.setvariable variable=a]b ##[error]c ::stop-commands::d';
const PIPELINE_COMMAND = /^[\s\u0085]*::|##\w*\[/m;
const INVISIBLE = /[\p{Cc}\p{Cf}]/u;

const folder = folderPerFile();

test('preflight prints no pipeline command, as text and as JSON', async () => {
  await using seller = await startCraftedSeller({
    answers: {
      'GET /weather': ({ origin }) => {
        const offer = { ...offerOf(WEATHER), payTo: HOSTILE, network: HOSTILE };
        return challengeAnswer({ ...challengeOf(WEATHER, origin), accepts: [offer] });
      },
    },
  });
  for (const format of ['text', 'json']) {
    const args = [`${seller.url}/weather`, '--allow-private', '--format', format];
    const { stdout: text } = await runCommand(preflightCommand, ...args);
    expect(text).toContain('task.setvariable');
    expect(text).not.toMatch(PIPELINE_COMMAND);
    if (format === 'json') expect(JSON.parse(text).terms.offers[0].payTo).toBe(HOSTILE);
  }
});

test('diff prints no pipeline command', async () => {
  const save = async (name: string, title: string) => {
    const file = await folder.write(
      name,
      FORMATS.json(printable({ printed: [{ ...FAILED, title, outcome: title }] })),
    );
    return file;
  };
  const files = [await save('a.json', 'a'), await save('b.json', HOSTILE)];
  const { stdout: text } = await runCommand(diffCommand, ...files);
  expect(text).toContain('task.setvariable');
  expect(text).not.toMatch(PIPELINE_COMMAND);
});

describe('a recording with a hostile payability', () => {
  const words = `\u001b]0;PWN\u0007 \u202e${HOSTILE}\n::error::e`;
  async function replay(file: string, format: string): Promise<string> {
    const run = await runCommand(scanCommand, '--from', file, '--format', format);
    expect(run.code).toBe(0);
    return run.stdout;
  }

  async function hostileRecording(): Promise<string> {
    const recording = JSON.parse(await readFile(RECORDING, 'utf8'));
    const offer = { pointer: words, scheme: words, network: words, asset: words, amount: words };
    const payability = {
      clients: [{ name: words, version: words }],
      silent: [{ method: words, path: words }],
      resources: [
        {
          method: words,
          path: words,
          payableBy: 'nobody',
          words,
          offers: [{ ...offer, client: words, verdict: 'refuses', words }],
        },
      ],
    };
    const file = folder.at('recording.json');
    const observations = { ...recording.observations, payability };
    await writeFile(file, JSON.stringify({ ...recording, observations }));
    return file;
  }

  test.each(['text', 'json', 'sarif', 'junit', 'markdown', 'codequality'])(
    'leads to no pipeline or terminal command in the format %s',
    async (format) => {
      const stdout = await replay(await hostileRecording(), format);
      expect(stdout).not.toMatch(PIPELINE_COMMAND);
      expect(stdout.replaceAll('\n', '')).not.toMatch(INVISIBLE);
      const isJson = ['json', 'sarif'].includes(format);
      if (isJson) expect(JSON.stringify(JSON.parse(stdout))).not.toContain('\\u001b');
    },
  );

  test('is unlike a recording of a real scan, whose payability is printed unchanged', async () => {
    const stdout = await replay(fileURLToPath(RECORDING), 'json');
    const recorded = JSON.parse(await readFile(RECORDING, 'utf8')).observations.payability;
    expect(JSON.parse(stdout).payability ?? null).toEqual(recorded?.resources ?? null);
  });
});

test('an error message has no pipeline or terminal command', async () => {
  const file = await folder.write('not.json', `\u001b[2J${HOSTILE}`);
  const { code, stderr } = await runCli(['scan', '--from', file]);
  expect(code).toBe(2);
  expect(stderr).toMatch(/^[^\n]+\n$/);
  expect(stderr).not.toMatch(PIPELINE_COMMAND);
  expect(stderr.trimEnd()).not.toMatch(INVISIBLE);
});
