/** `npm run bench -- [FLAGS] [CASE…]`: a table on standard output (README.md). */
import { writeFile } from 'node:fs/promises';
import { cpus } from 'node:os';
import { fileURLToPath } from 'node:url';
import { Tinypool } from 'tinypool';
import { BadArguments, parseArguments } from './arguments.ts';
import { type Effort, type Measurement, table } from './measurement.ts';

/** In a process of its own, so that no case inherits the heap or the threads of another. */
async function run(name: string, effort: Effort): Promise<readonly Measurement[]> {
  const filename = fileURLToPath(new URL(`cases/${name}.ts`, import.meta.url));
  const farm = new Tinypool({
    filename,
    runtime: 'child_process',
    // A child has none otherwise: no PATH to build a server with, no MONGODB_URI.
    env: Object.fromEntries(
      Object.entries(process.env).filter((one): one is [string, string] => one[1] !== undefined),
    ),
    minThreads: 1,
    maxThreads: 1,
    // The case `memory` collects garbage before it measures the heap.
    execArgv: ['--expose-gc'],
  });
  try {
    return await farm.run(effort);
  } catch (error) {
    // The cause shows an error of the other process unchanged.
    throw new Error(`${name} failed`, { cause: error });
  } finally {
    await farm.destroy();
  }
}

async function main(): Promise<void> {
  const { isQuick, json, hosts, store, wanted } = parseArguments(process.argv.slice(2));
  const [cpu] = cpus();
  const machine = `Node ${process.version}, ${cpus().length} × ${cpu?.model.trim() ?? 'unknown'}`;
  console.log(`${machine}${isQuick ? ', --quick: the numbers mean nothing' : ''}`);
  const results: Record<string, readonly Measurement[]> = {};
  for (const name of wanted) {
    const rows = await run(name, { isQuick, hosts, store });
    results[name] = rows;
    console.log(`\n${name}\n${table(rows)}`);
  }
  if (json === undefined) return;
  const document = { takenAt: new Date().toISOString(), machine, isQuick, results };
  await writeFile(json, `${JSON.stringify(document, null, 2)}\n`);
}

main().catch((error: unknown) => {
  const isUsage = error instanceof BadArguments;
  console.error(isUsage ? error.message : error);
  process.exitCode = isUsage ? 2 : 1;
});
