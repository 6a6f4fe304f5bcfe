/**
 * Runs the steps of a composite action on this machine, one after the other, as a runner of GitHub does.
 * It fills in expressions, obeys `if`, and writes outputs and summary to files. A failed step ends the job.
 */
import { spawn } from 'node:child_process';
import { mkdtempDisposable, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';

type Step = {
  readonly id: string;
  readonly if?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly run?: string;
  readonly uses?: string;
};
type Action = {
  readonly inputs: Readonly<Record<string, { readonly default?: string }>>;
  readonly outputs: Readonly<Record<string, { readonly value: string }>>;
  readonly runs: { readonly steps: readonly Step[] };
};

export type JobRun = {
  /** Exit code of each step that ran. */
  readonly codes: Readonly<Record<string, number>>;
  readonly outputs: Readonly<Record<string, string>>;
  /** Output of each step. */
  readonly log: Readonly<Record<string, string>>;
  readonly summary: string;
  /** Steps that use another action, which are not run here. */
  readonly used: readonly string[];
};

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** The workflow that uses the action. */
export const WORKFLOW = '.github/workflows/x402.yml';

export async function runAction(
  source: string,
  given: Readonly<Record<string, string>>,
  cwd: string,
  path: string,
): Promise<JobRun> {
  const action: Action = parse(source);
  await using folder = await mkdtempDisposable(join(tmpdir(), 'runner-'));
  const temp = folder.path;
  const inputs = Object.fromEntries(
    Object.entries(action.inputs).map(([name, one]) => [name, given[name] ?? one.default ?? '']),
  );
  const steps: Record<string, Record<string, string>> = {};
  const codes: Record<string, number> = {};
  const log: Record<string, string> = {};
  const used: string[] = [];
  const summaryFile = join(temp, 'summary');
  await writeFile(summaryFile, '');
  const value = (name: string) => {
    const [scope, key = '', , output = ''] = name.split('.');
    if (scope === 'inputs') return inputs[key] ?? '';
    if (scope === 'steps') return steps[key]?.[output] ?? '';
    throw new Error(`No such value here: ${name}`);
  };
  for (const step of action.runs.steps) {
    const failed = Object.values(codes).some((code) => code !== 0);
    if (!isDue(step.if ?? '', failed, value)) continue;
    if (step.uses !== undefined) {
      used.push(step.uses);
      continue;
    }
    const outputFile = join(temp, `${step.id}.out`);
    await writeFile(outputFile, '');
    const env = Object.fromEntries(
      Object.entries(step.env ?? {}).map(([name, one]) => [name, fill(one, value)]),
    );
    const child = spawn(
      'bash',
      ['--noprofile', '--norc', '-eo', 'pipefail', '-c', step.run ?? ''],
      {
        cwd,
        env: {
          PATH: path,
          HOME: temp,
          RUNNER_TEMP: temp,
          GITHUB_ACTION_PATH: ROOT,
          GITHUB_OUTPUT: outputFile,
          GITHUB_STEP_SUMMARY: summaryFile,
          GITHUB_WORKFLOW_REF: `owner/repository/${WORKFLOW}@refs/heads/main`,
          ...env,
        },
        stdio: ['ignore', 'pipe', 'pipe'],
      },
    );
    const [out, err, code] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      new Promise<number>((resolve) => child.once('close', (exit) => resolve(exit ?? 1))),
    ]);
    codes[step.id] = code;
    log[step.id] = out + err;
    steps[step.id] = Object.fromEntries(
      (await readFile(outputFile, 'utf8'))
        .split('\n')
        .filter((line) => line.includes('='))
        .map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
    );
  }
  const outputs = Object.fromEntries(
    Object.entries(action.outputs).map(([name, one]) => [name, fill(one.value, value)]),
  );
  return { codes, outputs, log, summary: await readFile(summaryFile, 'utf8'), used };
}

function fill(template: string, value: (name: string) => string): string {
  return template.replaceAll(/\$\{\{\s*([^}]+?)\s*\}\}/g, (_all, expression: string) => {
    const found = expression
      .split('||')
      .map((one) => value(one.trim()))
      .find((one) => one !== '');
    return found ?? '';
  });
}

/** The few forms of `if` that the action uses. */
function isDue(condition: string, failed: boolean, value: (name: string) => string): boolean {
  const terms = condition.split('&&').map((term) => term.trim());
  const always = terms.includes('always()');
  if (failed && !always) return false;
  return terms.every((term) => {
    if (term === '' || term === 'always()') return true;
    const [, name = '', operator, wanted = ''] =
      /^([\w.-]+)\s*(==|!=)\s*'([^']*)'$/.exec(term) ?? [];
    if (operator === undefined) throw new Error(`Cannot read the condition: ${term}`);
    return (value(name) === wanted) === (operator === '==');
  });
}
