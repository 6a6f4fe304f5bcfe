/** Compares a command with `node -e 0`, and measures the service until its first answer. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempDisposableSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { launchInstance, startInstance } from '../../hosts/instance-process.ts';
import { type FarmOrder, startFarm } from '../farm/seller-farm.ts';
import { readMetric } from '../measured-instance.ts';
import { type BenchCase, type Measurement, median } from '../measurement.ts';
import { newDataFolder } from '../seeded-store.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const CLI = 'src/cli/main.ts';
const RECORDING = 'test/fixtures/origins/recorded/newcomer.json';
const COMMANDS: Readonly<Record<string, readonly string[]>> = {
  '--help': [CLI, '--help'],
  'explain P6': [CLI, 'explain', 'P6'],
  'scan --from': [CLI, 'scan', '--offline', '--from', RECORDING],
};
/** Says at the end what all threads of the process have computed. */
const TELL =
  "process.on('exit', () => console.error('cpu', JSON.stringify(process.resourceUsage())))";
/** Built by `node tools/pack/main.ts before`. The case leaves it out if it is missing. */
const PACKED = 'dist/cli.js';
const AGENTCASH = 'node_modules/@agentcash/discovery/bin/discovery.js';
/** Until a service has loaded, rested and given back what loading left. */
const REST_MS = 8_000;
/** One round trip to the distant seller. */
const DISTANT_MS = 80;
const MIB = 1024 * 1024;

type Cost = { readonly wallMs: number; readonly cpuMs: number; readonly mib: number };

const startup: BenchCase = async ({ isQuick }) => {
  const runs = isQuick ? 1 : 7;
  const nothing = await costOf(['-e', '0'], runs);
  const rows: Measurement[] = [{ what: 'node -e 0', value: nothing.wallMs, unit: 'ms' }];
  for (const [what, args] of Object.entries(COMMANDS)) {
    // The first run fills the compile cache.
    await costOf(args, 1);
    const { wallMs, cpuMs } = await costOf(args, runs);
    rows.push(
      { what, value: wallMs / nothing.wallMs, unit: 'x', note: 'of node -e 0' },
      { what: `${what}, processor time`, value: cpuMs / nothing.cpuMs, unit: 'x' },
    );
  }
  rows.push(
    ...(await besideAgentCash({ kind: 'good', count: 1, delayMs: 0 }, runs)),
    ...(await besideAgentCash({ kind: 'distant', count: 1, delayMs: DISTANT_MS }, runs)),
  );
  const times: number[] = [];
  for (let run = 0; run < Math.min(runs, 3); run += 1) times.push(await firstAnswerMs());
  const value = median(times) / nothing.wallMs;
  const atRest = await restBytes(isQuick ? 0 : REST_MS);
  return [
    ...rows,
    { what: 'service, to its first answer', value, unit: 'x', note: 'of node -e 0' },
    { what: 'service, at rest', value: atRest / MIB, unit: 'MiB' },
  ];
};

export default startup;

/** The same seller, by whole processes. */
async function besideAgentCash(order: FarmOrder, runs: number): Promise<Measurement[]> {
  await using farm = await startFarm(order);
  using folder = mkdtempDisposableSync(join(tmpdir(), 'bench-roots-'));
  const roots = join(folder.path, 'roots.pem');
  writeFileSync(roots, farm.ca ?? '');
  const env = { ...process.env, NODE_EXTRA_CA_CERTS: roots };
  const [url = ''] = farm.urls;
  const scan = ['scan', url, '--allow-private', '--offline'];
  const where = order.kind === 'distant' ? `, ${order.delayMs} ms away over TLS` : '';
  const theirs = await costOf([AGENTCASH, 'discover', url], runs, env);
  const rows: Measurement[] = [
    { what: `AgentCash discover${where}`, value: theirs.wallMs, unit: 'ms' },
    { what: `AgentCash discover${where}, memory`, value: theirs.mib, unit: 'MiB' },
  ];
  const scans = { 'scan, sources': [CLI, ...scan], 'scan, packed': [PACKED, ...scan] };
  for (const [name, args] of Object.entries(scans)) {
    if (args[0] === PACKED && !existsSync(new URL(PACKED, `file://${ROOT}`))) continue;
    await costOf(args, 1, env);
    const ours = await costOf(args, runs, env);
    const what = `${name}${where}`;
    const note = 'of AgentCash discover';
    rows.push(
      { what, value: ours.wallMs / theirs.wallMs, unit: 'x', note },
      { what: `${what}, processor time`, value: ours.cpuMs / theirs.cpuMs, unit: 'x', note },
      { what: `${what}, memory`, value: ours.mib / theirs.mib, unit: 'x', note },
    );
  }
  return rows;
}

async function costOf(
  args: readonly string[],
  runs: number,
  env: NodeJS.ProcessEnv = process.env,
): Promise<Cost> {
  const costs: Cost[] = [];
  for (let run = 0; run < runs; run += 1) {
    const startMs = performance.now();
    const child = spawn(process.execPath, withTell(args), {
      cwd: ROOT,
      env,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let errorText = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      errorText += text;
    });
    const [code] = await once(child, 'close');
    if (code !== 0) throw new Error(`${args.join(' ')} failed: ${errorText}`);
    costs.push(costIn(errorText, performance.now() - startMs));
  }
  return typical(costs);
}

function withTell(args: readonly string[]): string[] {
  return ['--import', `data:text/javascript,${encodeURIComponent(TELL)}`, ...args];
}

function costIn(said: string, wallMs: number): Cost {
  // Threads say it too, and before the process has ended.
  const used = [...said.matchAll(/"userCPUTime":(\d+),"systemCPUTime":(\d+),"maxRSS":(\d+)/g)];
  const cpuMs = Math.max(...used.map(([, user, own]) => (Number(user) + Number(own)) / 1_000));
  return { wallMs, cpuMs, mib: Math.max(...used.map(([, , , kib]) => Number(kib))) / 1024 };
}

function typical(costs: readonly Cost[]): Cost {
  return {
    wallMs: median(costs.map(({ wallMs }) => wallMs)),
    cpuMs: median(costs.map(({ cpuMs }) => cpuMs)),
    mib: median(costs.map(({ mib }) => mib)),
  };
}

async function restBytes(restMs: number): Promise<number> {
  await using data = await newDataFolder('scratch');
  const instance = await startInstance({ STORE_URL: `sqlite:${data.database}` });
  try {
    await pause(restMs);
    return await readMetric(instance, 'process_resident_memory_bytes');
  } finally {
    await instance.kill('SIGKILL');
  }
}

async function firstAnswerMs(): Promise<number> {
  await using data = await newDataFolder('scratch');
  const startMs = performance.now();
  const instance = await launchInstance({ STORE_URL: `sqlite:${data.database}` });
  let isOver = false;
  instance.exited.then(() => {
    isOver = true;
  });
  try {
    while ((await instance.get('/v1/status').catch(() => null)) === null) {
      if (isOver) throw new Error(`the service ended before it answered: ${instance.err()}`);
      await pause(5);
    }
    return performance.now() - startMs;
  } finally {
    await instance.kill('SIGKILL');
  }
}
