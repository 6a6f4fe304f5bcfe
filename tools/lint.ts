/**
 * `npm run lint`: types, style, floors, unused code, house rules. Runs all of them, and fails if one fails.
 * `--publishing VERSION` accepts that this catalog is not published yet. `--write` formats the files, with safe fixes.
 */
import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { findFloorBreaches } from './lint/floors.ts';
import { findHouseBreaches } from './lint/house-rules.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const ARGUMENTS = parseArgs({
  options: { publishing: { type: 'string' }, write: { type: 'boolean', default: false } },
});
const require = createRequire(import.meta.url);

function runLinter(name: string, command: string, args: readonly string[]): boolean {
  const { status, error } = spawnSync(command, args, { cwd: ROOT, stdio: 'inherit' });
  if (error) console.error(`${name} did not start: ${error.message}`);
  console.log(`${name}: ${status === 0 ? 'clean' : 'failed'}`);
  return status === 0;
}

function checkTypes(): boolean {
  const tsc = require.resolve('typescript/package.json').replace(/package\.json$/, 'bin/tsc');
  return runLinter('types', process.execPath, [tsc, '-p', '.']);
}

function checkStyle(): boolean {
  const packageName = `@biomejs/cli-${process.platform}-${process.arch}`;
  let biome: string;
  try {
    biome = require.resolve(`${packageName}/biome`);
  } catch {
    console.log(`style: skipped, ${packageName} is not installed; Linux on x64 or arm64 checks it`);
    return true;
  }
  const write = ARGUMENTS.values.write ? ['--write'] : [];
  return runLinter('style', biome, ['check', ...write, '--max-diagnostics=200', '.']);
}

/** Checks imports against the table in tools/lint/floors.ts. */
async function checkFloors(): Promise<boolean> {
  const findings = await findFloorBreaches(ROOT);
  if (findings !== '') console.log(findings);
  console.log(`floors: ${findings === '' ? 'clean' : 'failed'}`);
  return findings === '';
}

/** Finds unused files, exports and packages; knip.jsonc lists the entry points. */
function checkUnused(): boolean {
  const knip = join(ROOT, 'node_modules', 'knip', 'bin', 'knip.js');
  return runLinter('unused', process.execPath, [knip, '--no-progress']);
}

async function checkHouseRules(): Promise<boolean> {
  const { publishing = null } = ARGUMENTS.values;
  const findings = await findHouseBreaches(ROOT, publishing);
  for (const { file, line, message } of findings) console.log(`${file}:${line}: ${message}`);
  console.log(`house rules: ${findings.length === 0 ? 'clean' : `${findings.length} findings`}`);
  return findings.length === 0;
}

const results = [
  checkTypes(),
  checkStyle(),
  await checkFloors(),
  checkUnused(),
  await checkHouseRules(),
];
process.exitCode = results.every(Boolean) ? 0 : 1;
