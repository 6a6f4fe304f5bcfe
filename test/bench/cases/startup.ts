/** What a command costs beside `node -e 0` of the same binary, and the service until it answers. */
import { spawnSync } from 'node:child_process';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { launchHost } from '../../hosts/host-process.ts';
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
const TELL = "process.on('exit', () => console.error('cpu', JSON.stringify(process.cpuUsage())))";

type Cost = { readonly wallMs: number; readonly cpuMs: number };

const startup: BenchCase = async ({ isQuick }) => {
  const runs = isQuick ? 1 : 7;
  const nothing = costOf(['-e', '0'], runs);
  const rows: Measurement[] = [{ what: 'node -e 0', value: nothing.wallMs, unit: 'ms' }];
  for (const [what, args] of Object.entries(COMMANDS)) {
    // The first run fills the compile cache.
    costOf(args, 1);
    const { wallMs, cpuMs } = costOf(args, runs);
    rows.push(
      { what, value: wallMs / nothing.wallMs, unit: 'x', note: 'of node -e 0' },
      { what: `${what}, processor time`, value: cpuMs / nothing.cpuMs, unit: 'x' },
    );
  }
  const times: number[] = [];
  for (let run = 0; run < Math.min(runs, 3); run += 1) times.push(await firstAnswerMs());
  const value = median(times) / nothing.wallMs;
  return [
    ...rows,
    { what: 'service, to its first answer', value, unit: 'x', note: 'of node -e 0' },
  ];
};

export default startup;

function costOf(args: readonly string[], runs: number): Cost {
  const costs = Array.from({ length: runs }, () => runOnce(args));
  return {
    wallMs: median(costs.map(({ wallMs }) => wallMs)),
    cpuMs: median(costs.map(({ cpuMs }) => cpuMs)),
  };
}

function runOnce(args: readonly string[]): Cost {
  const began = performance.now();
  const { stderr, status } = spawnSync(
    process.execPath,
    ['--import', `data:text/javascript,${encodeURIComponent(TELL)}`, ...args],
    { cwd: ROOT, encoding: 'utf8' },
  );
  const wallMs = performance.now() - began;
  if (status !== 0) throw new Error(`${args.join(' ')} failed: ${stderr}`);
  // Threads say it too, and before the process has ended.
  const used = [...stderr.matchAll(/"user":(\d+),"system":(\d+)/g)].map(
    ([, user, system]) => (Number(user) + Number(system)) / 1_000,
  );
  return { wallMs, cpuMs: Math.max(...used) };
}

async function firstAnswerMs(): Promise<number> {
  await using data = await newDataFolder('scratch');
  const began = performance.now();
  const host = await launchHost({ STORE_URL: `sqlite:${data.database}` });
  try {
    for (;;) {
      const answer = await host.get('/v1/status').catch(() => null);
      if (answer !== null) return performance.now() - began;
      await pause(5);
    }
  } finally {
    await host.kill('SIGKILL');
  }
}
