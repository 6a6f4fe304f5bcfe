/** `npm run bench [-- --quick] [--json FILE] [--hosts N]… [CASE…]`: a table on standard output. */
import { writeFile } from 'node:fs/promises';
import { cpus } from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { Tinypool } from 'tinypool';
import { type Effort, type Measurement, table } from './measurement.ts';

/** In this order; each leaves the machine as quiet as it found it. */
const CASES = [
  'startup',
  'scans',
  'distance',
  'judging',
  'sales',
  'reads',
  'directory',
  'ledger',
  'storage',
  'restart',
  'hostile',
] as const;

const USAGE = `usage: npm run bench -- [--quick] [--json FILE] [--hosts N]… [${CASES.join('|')} …]`;

function parse() {
  const options = {
    quick: { type: 'boolean' },
    json: { type: 'string' },
    hosts: { type: 'string', multiple: true },
  } as const;
  const { values, positionals } = parseArgs({ options, allowPositionals: true });
  for (const name of positionals) {
    if (!CASES.some((known) => known === name)) throw new Error(`there is no case "${name}"`);
  }
  const wanted = CASES.filter((name) => positionals.length === 0 || positionals.includes(name));
  const hosts = values.hosts?.map(Number);
  return { isQuick: values.quick ?? false, json: values.json, hosts, wanted };
}

/** In a process of its own, so that no case inherits the heap or the threads of another. */
async function run(name: string, effort: Effort): Promise<readonly Measurement[]> {
  const filename = fileURLToPath(new URL(`cases/${name}.ts`, import.meta.url));
  const farm = new Tinypool({
    filename,
    runtime: 'child_process',
    minThreads: 1,
    maxThreads: 1,
    // For the case that weighs what garbage does not explain.
    execArgv: ['--expose-gc'],
  });
  try {
    return await farm.run(effort);
  } catch (error) {
    // What comes from another process is told as it came.
    throw new Error(`${name} failed`, { cause: error });
  } finally {
    await farm.destroy();
  }
}

async function main(): Promise<void> {
  const { isQuick, json, hosts, wanted } = parse();
  const [cpu] = cpus();
  const machine = `Node ${process.version}, ${cpus().length} × ${cpu?.model.trim() ?? 'unknown'}`;
  console.log(`${machine}${isQuick ? ', --quick: the numbers mean nothing' : ''}`);
  const results: Record<string, readonly Measurement[]> = {};
  for (const name of wanted) {
    const rows = await run(name, { isQuick, hosts });
    results[name] = rows;
    console.log(`\n${name}\n${table(rows)}`);
  }
  if (json === undefined) return;
  const document = { takenAt: new Date().toISOString(), machine, isQuick, results };
  await writeFile(json, `${JSON.stringify(document, null, 2)}\n`);
}

main().catch((error: unknown) => {
  const isUsage =
    error instanceof Error && /^(there is no case|Unknown option|Option)/.test(error.message);
  console.error(isUsage ? `${error.message}\n${USAGE}` : error);
  process.exitCode = isUsage ? 2 : 1;
});
