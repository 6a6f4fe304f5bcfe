/** The path that the caller names is in every format, as far as the format allows. */
import { readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { captureCommand } from '../../../src/cli/capture-command.ts';
import { FORMATS } from '../../../src/cli/formatters/formats.ts';
import { scanCommand } from '../../../src/cli/scan-command.ts';
import { FORMAT_NAMES } from '../../../src/cli/usage.ts';
import type { NamedPath } from '../../../src/scanner/model/report.ts';
import { startCraftedSeller } from '../../fixtures/origins/crafted-seller.ts';
import { folderPerTest } from '../../fixtures/temp-folder.ts';
import { HOSTILE, PASSED, printable } from '../printable.ts';
import { runCommand } from '../run-cli.ts';
import { readXml } from './read-xml.ts';

const WORDS = 'GET /quote, which you named, asks for a payment that no official client can pay.';
const NAMED: NamedPath = {
  ...{ method: 'GET', path: '/quote', status: 402, payableBy: 'nobody' },
  words: WORDS,
};

function printNamed(named: NamedPath) {
  const { report } = printable();
  return printable({ report: { ...report, named }, printed: [PASSED] });
}

test.each(FORMAT_NAMES)('%s says what the named path answered', (format) => {
  const text = FORMATS[format](printNamed(NAMED));
  expect(text.replaceAll(/\s+/g, ' ')).toContain(WORDS);
  expect(FORMATS[format](printable({ printed: [PASSED] }))).not.toContain('which you named');
});

test('Code Quality lists a named path as an entry without severity, unless default clients can pay it', () => {
  const [entry, ...more] = JSON.parse(FORMATS.codequality(printNamed(NAMED)));
  expect(more).toEqual([]);
  expect(entry).toMatchObject({ check_name: 'x402/named', severity: 'info', description: WORDS });
  const payable = { ...NAMED, payableBy: 'default' as const };
  expect(JSON.parse(FORMATS.codequality(printNamed(payable)))).toEqual([]);
});

test('SARIF has a note about a named path at a file of the repository, unless default clients can pay it', () => {
  const [{ results, tool }] = JSON.parse(FORMATS.sarif(printNamed(NAMED))).runs;
  expect(results).toHaveLength(1);
  const [{ ruleId, ruleIndex, level, message, locations }] = results;
  expect([ruleId, level, message.text]).toEqual(['named', 'note', WORDS]);
  expect(tool.driver.rules[ruleIndex].id).toBe('named');
  expect(locations[0].physicalLocation.artifactLocation.uri).toMatch(/^(?!\/|\w+:)\S+$/);
  const payable = { ...NAMED, payableBy: 'default' as const };
  const [run] = JSON.parse(FORMATS.sarif(printNamed(payable))).runs;
  expect(run.results).toEqual([]);
  expect(run.tool.driver.rules.map(({ id }: { readonly id: string }) => id)).not.toContain('named');
});

describe('the answer of a named path is text of an origin', () => {
  const hostile = { ...NAMED, words: `a\n::error::x\n${HOSTILE.evidence}` };
  test('no format lets it begin a command', () => {
    for (const format of FORMAT_NAMES) {
      expect(FORMATS[format](printNamed(hostile))).not.toMatch(/^\s*::error::x/m);
    }
  });

  test('Markdown and JUnit escape its markup', () => {
    const markdown = FORMATS.markdown(printNamed(hostile));
    expect(markdown).not.toMatch(/<script>|\]\(javascript/);
    expect(() => readXml(FORMATS.junit(printNamed(hostile)))).not.toThrow();
  });
});

describe('a recording', () => {
  const folder = folderPerTest();

  test('keeps the answer, so that a replay shows it in each format, and capture drops it', async () => {
    await using seller = await startCraftedSeller({ answers: { 'GET /run': { status: 404 } } });
    const recording = folder.at('recording.json');
    const flags = ['--allow-private', '--offline', '--method', 'GET', '--save', recording];
    const scan = await runCommand(scanCommand, `${seller.url}/run?key=hidden`, ...flags);
    expect(scan.code).toBe(0);
    const replay = await runCommand(scanCommand, '--from', recording, '--format', 'markdown');
    expect(replay.stdout).toContain('which you named');

    const trimmed = folder.at('trimmed.json');
    await runCommand(captureCommand, '--from', recording, '--output', trimmed);
    expect(await readFile(trimmed, 'utf8')).not.toContain('key=hidden');
  });
});
