/** The steps of action.yml run on a good and on a broken seller. */

import { execFile } from 'node:child_process';
import { chmod, mkdir, readFile, stat, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, test } from 'vitest';
import { findExecutable } from '../fixtures/find-executable.ts';
import { ensureJudge } from '../fixtures/judges/judge-tools.ts';
import { needs } from '../fixtures/needs.ts';
import { craftedSeller } from '../fixtures/sellers/crafted-seller.ts';
import { freePort } from '../fixtures/service/free-port.ts';
import { folderPerFile } from '../fixtures/temp-folder.ts';
import { runAction, WORKFLOW } from './composite.ts';

/** Microsoft's validator of SARIF 2.1.0. */
const multitool = await ensureJudge({ '@microsoft/sarif-multitool-linux': '5.7.0' });
const missingValidator = 'unavailable' in multitool ? multitool.unavailable : null;
const execute = promisify(execFile);

async function validateSarif(file: string) {
  if ('unavailable' in multitool) return { stdout: '' };
  const home = join(multitool.folder, 'node_modules/@microsoft/sarif-multitool-linux');
  const tool = join(home, 'Sarif.Multitool');
  await chmod(tool, 0o755);
  const args = ['validate', file, '--output', `${file}.judged`, '--log', 'ForceOverwrite'];
  return execute(tool, args, { cwd: home });
}

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const NODE = process.execPath;
const SELLER = `${NODE} ${fileURLToPath(new URL('./seller-process.ts', import.meta.url))}`;
const PATH = `${dirname(NODE)}:${process.env['PATH']}`;

const folder = folderPerFile();
let good: Job;
let broken: Job;
type SarifResult = {
  readonly ruleId: string;
  readonly locations: readonly [
    {
      readonly physicalLocation: {
        readonly artifactLocation: { readonly uri: string };
        readonly region: { readonly startLine: number };
      };
    },
  ];
};
type Job = Awaited<ReturnType<typeof run>>;

async function run(
  kind: 'good' | 'broken' | 'sells-twice',
  inputs: Readonly<Record<string, string>> = {},
  path = PATH,
) {
  const port = await freePort();
  const source = await readFile(join(ROOT, 'action.yml'), 'utf8');
  const allInputs = {
    origin: `http://127.0.0.1:${port}`,
    start:
      kind === 'sells-twice' ? craftedSeller({ port, flaw: 'T7' }) : `${SELLER} ${port} ${kind}`,
    output: kind,
    ...inputs,
  };
  return { port, ...(await runAction(source, allInputs, folder.path, path)) };
}

beforeAll(async () => {
  const document = { openapi: '3.1.0', info: { title: 'A', version: '1' }, paths: {} };
  await folder.write('openapi.json', JSON.stringify(document, null, 2));
  await mkdir(folder.at(dirname(WORKFLOW)), { recursive: true });
  await folder.write(WORKFLOW, 'on: push\n');
  good = await run('good', { 'min-grade': 'A', 'fail-on': 'fail' });
  broken = await run('broken', {
    'min-grade': 'A',
    'upload-sarif': 'true',
    baseline: good.outputs['report'] ?? '',
    sources: '/openapi.json=openapi.json\n',
  });
});

async function isUp(port: number): Promise<boolean> {
  return fetch(`http://127.0.0.1:${port}/`).then(
    () => true,
    () => false,
  );
}

describe('a good seller', () => {
  test('passes the gate', () => {
    expect(good.codes).toEqual({ start: 0, wait: 0, scan: 0, render: 0, stop: 0, gate: 0 });
    expect(good.outputs).toMatchObject({ grade: 'A', score: '100', report: 'good/report.json' });
    expect(good.log['render']).toContain('::notice title=x402 conformance::');
    expect(good.log['render']).not.toContain('::error');
    expect(good.summary).toContain('grade A');
    expect(good.used).toEqual([]);
  });

  test('is stopped after the scan', async () => {
    await expect.poll(() => isUp(good.port)).toBe(false);
  });
});

test('the action needs neither curl nor setsid', async () => {
  const bin = folder.at('bin');
  await mkdir(bin);
  const tools = ['bash', 'cat', 'mkdir', 'rm', 'sleep', 'sh', 'env', 'dirname'];
  for (const tool of tools) await symlink(findExecutable(tool) ?? '', join(bin, tool));
  await symlink(NODE, join(bin, 'node'));
  const job = await run('good', { 'min-grade': 'A', output: 'bare' }, bin);
  expect(job.codes).toEqual({ start: 0, wait: 0, scan: 0, render: 0, stop: 0, gate: 0 });
  await expect.poll(() => isUp(job.port)).toBe(false);
});

describe('a broken seller', () => {
  test('misses the gate after the report was printed and its server stopped', async () => {
    expect(broken.codes).toEqual({ start: 0, wait: 0, scan: 0, render: 0, stop: 0, gate: 1 });
    expect(broken.log['gate']).toMatch(/grade \w is below A/);
    await expect.poll(() => isUp(broken.port)).toBe(false);
  });

  test('is told which checks became worse since the baseline', () => {
    expect(broken.log['gate']).toMatch(/--fail-on-regression: .*P2 pass -> /);
  });

  test('gets annotations at lines of the source file of its document', () => {
    expect(broken.log['render']).toMatch(
      /^::(?:error|warning) file=\.github\/workflows\/[^,]+,line=1,title=P2 /m,
    );
    expect(broken.log['render']).toMatch(/^::warning file=openapi\.json,line=3,title=S1 /m);
    expect(broken.summary).toMatch(/\| P2 /);
  });

  test('gets SARIF that code scanning accepts', async () => {
    expect(broken.used).toEqual([
      expect.stringMatching(/^github\/codeql-action\/upload-sarif@[0-9a-f]{40}$/),
    ]);
    const sarif = JSON.parse(await readFile(folder.at(broken.outputs['sarif'] ?? ''), 'utf8'));
    const [firstResult] = sarif.runs[0].results;
    expect(firstResult).toMatchObject({ ruleId: 'P2', message: { text: expect.any(String) } });
    const places = sarif.runs[0].results.map((result: SarifResult) => {
      const { artifactLocation, region } = result.locations[0].physicalLocation;
      return `${result.ruleId} ${artifactLocation.uri}:${region.startLine}`;
    });
    // Code scanning refuses all results if one is not in a file of the repository.
    expect(places).toContain('S1 openapi.json:3');
    expect(places).toContain(`P2 ${WORKFLOW}:1`);
    expect(places.every((place: string) => !place.includes('://'))).toBe(true);
  });
});

describe('the SARIF of both sellers', needs(missingValidator), () => {
  test('is valid', async () => {
    for (const { outputs } of [good, broken]) {
      const { stdout } = await validateSarif(folder.at(outputs['sarif'] ?? ''));
      expect(stdout).toContain('Analysis completed successfully.');
      expect(stdout).not.toMatch(/: error |\bJSON\d+\b/);
    }
  });

  test('is reported as invalid without its version', async () => {
    const file = await folder.write('wrong.sarif', { runs: [{ results: 7 }] });
    const outcome = await validateSarif(file).catch(({ stdout }) => ({ stdout: String(stdout) }));
    expect(outcome.stdout).toMatch(/: error |JSON\d+|invalid/);
  });
});

test('the action reports a server that does not start, with its output', async () => {
  const { codes, log } = await run('good', {
    start: 'echo no such module; exit 1',
    'wait-seconds': '1',
  });
  expect(codes).toMatchObject({ wait: 1 });
  expect(codes).not.toHaveProperty('scan');
  expect(log['wait']).toContain('did not answer within 1 s');
  expect(log['wait']).toContain('no such module');
});

test.each(['x[$(touch harm)]', 'PATH', '5+5', '-1', '', ' 7', '1.5'])(
  'the input wait-seconds is a number and no program: %j',
  async (seconds) => {
    const { codes, log } = await run('good', { start: '', 'wait-seconds': seconds });
    expect(codes).toEqual({ wait: 1 });
    expect(log['wait']).toContain('wait-seconds');
    await expect(stat(folder.at('harm'))).rejects.toMatchObject({ code: 'ENOENT' });
  },
);

/** The seller `sells-twice` refuses good payments on one route (T1), and one payment buys twice (T7). */
describe('the input pay-test', () => {
  const TIMEOUT_MS = 180_000;

  test('with the value "fail" fails the job if a trial fails', {
    timeout: TIMEOUT_MS,
  }, async () => {
    const { port, codes, log, summary } = await run('sells-twice', { 'pay-test': 'fail' });
    expect(codes).toMatchObject({ scan: 0, stop: 0, 'pay-test': 1 });
    expect(log['pay-test']).toContain('--fail-on fail: T1, T7');
    expect(summary).toContain('Gives away for nothing: 1 way.');
    expect(await isUp(port)).toBe(false);
  });

  test('with the value "true" reports failed trials, and the job passes', {
    timeout: TIMEOUT_MS,
  }, async () => {
    const { codes, summary } = await run('sells-twice', { 'pay-test': 'true' });
    expect(codes).toMatchObject({ 'pay-test': 0, gate: 0 });
    expect(summary).toMatch(/\| fail \| T7 replay \|/);
  });
});
