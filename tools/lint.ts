/**
 * `npm run lint`: types, style, floors, unused code, house rules. Runs all of them, and fails if one fails.
 * `--publishing VERSION` accepts that this catalog is not published yet.
 */
import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { floorFindings } from './lint/floors.ts';
import { houseFindings } from './lint/house-rules.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const ARGUMENTS = parseArgs({ options: { publishing: { type: 'string' } } });
const require = createRequire(import.meta.url);

function run(name: string, command: string, args: readonly string[]): boolean {
  const { status, error } = spawnSync(command, args, { cwd: ROOT, stdio: 'inherit' });
  if (error) console.error(`${name} did not start: ${error.message}`);
  console.log(`${name}: ${status === 0 ? 'clean' : 'failed'}`);
  return status === 0;
}

function types(): boolean {
  const tsc = require.resolve('typescript/package.json').replace(/package\.json$/, 'bin/tsc');
  return run('types', process.execPath, [tsc, '-p', '.']);
}

function style(): boolean {
  const packageName = `@biomejs/cli-${process.platform}-${process.arch}`;
  let biome: string;
  try {
    biome = require.resolve(`${packageName}/biome`);
  } catch {
    console.log(`style: skipped, ${packageName} is not installed; Linux on x64 or arm64 checks it`);
    return true;
  }
  return run('style', biome, ['check', '--max-diagnostics=200', '.']);
}

/** Checks imports against the table in tools/lint/floors.ts. */
async function floors(): Promise<boolean> {
  const findings = await floorFindings(ROOT);
  if (findings !== '') console.log(findings);
  console.log(`floors: ${findings === '' ? 'clean' : 'failed'}`);
  return findings === '';
}

/** Finds unused files, exports and packages; knip.jsonc lists the entry points. */
function unused(): boolean {
  const knip = join(ROOT, 'node_modules', 'knip', 'bin', 'knip.js');
  return run('unused', process.execPath, [knip, '--no-progress']);
}

async function house(): Promise<boolean> {
  const { publishing = null } = ARGUMENTS.values;
  const findings = await houseFindings(ROOT, publishing);
  for (const { file, line, message } of findings) console.log(`${file}:${line}: ${message}`);
  console.log(`house rules: ${findings.length === 0 ? 'clean' : `${findings.length} findings`}`);
  return findings.length === 0;
}

const results = [types(), style(), await floors(), unused(), await house()];
process.exitCode = results.every(Boolean) ? 0 : 1;
