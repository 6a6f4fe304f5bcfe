/** Runs the script of ci/gitlab.yml line by line, as a runner does, on a good and a broken seller. */

import { spawn } from 'node:child_process';
import { mkdtemp, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { craftedSeller } from '../fixtures/sellers/crafted-seller.ts';
import { freePort } from '../fixtures/service/free-port.ts';
import { folderPerFile } from '../fixtures/temp-folder.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const NODE = process.execPath;
const SELLER = `${NODE} ${fileURLToPath(new URL('./seller-process.ts', import.meta.url))}`;
/** Runs the sources of this checkout instead of the published package. */
const COMMAND = `${NODE} ${ROOT}src/cli/main.ts`;

const folder = folderPerFile();

type Job = {
  readonly variables: Readonly<Record<string, string>>;
  readonly script: readonly string[];
};
type Header = { readonly spec: { readonly inputs: Record<string, { readonly default?: string }> } };

async function runJob(
  kind: 'good' | 'broken' | 'sells-twice',
  given: Readonly<Record<string, string>> = {},
) {
  const port = await freePort();
  const values: Readonly<Record<string, string>> = {
    origin: `http://127.0.0.1:${port}`,
    start:
      kind === 'sells-twice'
        ? craftedSeller({ port, flaw: 'T7' })
        : `exec ${SELLER} ${port} ${kind}`,
    command: COMMAND,
    gate: '--min-grade A',
    ...given,
  };
  const source = await readFile(join(ROOT, 'ci/gitlab.yml'), 'utf8');
  const [header, jobs] = parseAllDocuments(source).map((one) => one.toJS());
  const { inputs } = (header as Header).spec;
  const fill = (value: string) =>
    value.replaceAll(/\$\[\[ inputs\.([\w-]+) \]\]/g, (_all, name: string) => {
      return values[name] ?? inputs[name]?.default ?? '';
    });
  const { variables, script }: Job = jobs['x402-scan'];
  const filled = Object.entries(variables).map(([name, value]) => [name, fill(value)] as const);
  const cwd = await mkdtemp(folder.at(`${kind}-`));
  const child = spawn('bash', ['-eo', 'pipefail', '-c', script.map(fill).join('\n')], {
    cwd,
    env: {
      PATH: `${dirname(NODE)}:${process.env['PATH']}`,
      HOME: cwd,
      ...Object.fromEntries(filled),
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const outputs = Promise.all([text(child.stdout), text(child.stderr)]);
  const code = await new Promise<number>((resolve) => {
    child.once('exit', (exit) => resolve(exit ?? 1));
  });
  await endServer(cwd);
  return { cwd, code, log: (await outputs).join('') };
}

/** Ends the server, which the job leaves running until its container ends. */
async function endServer(cwd: string): Promise<void> {
  const pid = Number(await readFile(join(cwd, 'x402-start.pid'), 'utf8'));
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // The server has ended already.
  }
}

test('a good seller passes', async () => {
  const { cwd, code, log } = await runJob('good');
  expect({ code, log }).toMatchObject({ code: 0, log: expect.stringContaining('A  100/100') });
  expect(JSON.parse(await readFile(join(cwd, 'x402-codequality.json'), 'utf8'))).toEqual([]);
});

test('a broken seller fails, with Code Quality and JUnit for the merge request', async () => {
  const { cwd, code, log } = await runJob('broken');
  expect(code).toBe(1);
  expect(log).toMatch(/grade \w is below A/);
  const violations: readonly object[] = JSON.parse(
    await readFile(join(cwd, 'x402-codequality.json'), 'utf8'),
  );
  // GitLab needs all these members of a violation.
  for (const violation of violations) {
    expect(violation).toEqual({
      description: expect.stringMatching(/\S/),
      check_name: expect.stringMatching(/^x402\/[PSD]\d+$/),
      fingerprint: expect.stringMatching(/^[0-9a-f]{64}$/),
      severity: expect.stringMatching(/^(?:info|minor|major|critical|blocker)$/),
      location: {
        path: expect.stringMatching(/^[^/].*/),
        lines: { begin: expect.any(Number) },
      },
    });
  }
  const fingerprints = violations.map((one) => ('fingerprint' in one ? one.fingerprint : null));
  expect(new Set(fingerprints).size).toBe(violations.length);
  expect(violations.length).toBeGreaterThan(0);
  expect(await readFile(join(cwd, 'x402-junit.xml'), 'utf8')).toContain(
    '1 of 2 paid resources asked for payment',
  );
});

test.each([
  ['fail', 1],
  ['true', 0],
])('the input pay-test is %s', { timeout: 180_000 }, async (payTest, code) => {
  const job = await runJob('sells-twice', { gate: '', 'pay-test': payTest });
  expect({ code: job.code, log: job.log }).toMatchObject({
    code,
    log: expect.stringContaining('Gives away for nothing: 1 way.'),
  });
  expect(job.log.includes('--fail-on fail: T1, T7')).toBe(payTest === 'fail');
});
