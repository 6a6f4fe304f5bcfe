/** The service starts and stops as a process of its own. */

import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { freePort } from '../../fixtures/service/free-port.ts';
import { folderPerTest } from '../../fixtures/temp-folder.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const MAIN = join(ROOT, 'src/main.ts');

type Run = {
  readonly process: ChildProcessByStdio<null, Readable, Readable>;
  out(): string;
  err(): string;
  /** The exit code, or null if a signal ended the process. */
  readonly exited: Promise<number | null>;
};

const folder = folderPerTest();
let runs: Run[];

beforeEach(() => {
  runs = [];
});

afterEach(async () => {
  for (const run of runs) {
    run.process.kill('SIGKILL');
    await run.exited;
  }
});

/** Starts the service as `npm start` does, in the folder of the test and with only these settings. */
function start(settings: Record<string, string>, main = MAIN): Run {
  const child = spawn(process.execPath, [main], {
    cwd: folder.path,
    env: {
      PATH: process.env['PATH'],
      X402SCAN_URL: '',
      BAZAAR_URL: '',
      ECOSYSTEM_URL: '',
      ...settings,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let out = '';
  let err = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    err += text;
  });
  const exited = once(child, 'close').then(([code]) => (typeof code === 'number' ? code : null));
  const run = { process: child, out: () => out, err: () => err, exited };
  runs.push(run);
  return run;
}

async function waitUntilListening(run: Run): Promise<void> {
  await expect
    .poll(() => `${run.out()}${run.err()}`, { timeout: 50_000, interval: 100 })
    .toMatch(/Catalog: |refused|Error/);
  expect(run.out()).toContain('Listening on');
}

test('a started service prints its address, store and catalog, answers, and stops on SIGTERM', async () => {
  const port = await freePort();
  const run = start({ PORT: String(port) });
  await waitUntilListening(run);
  const base = `http://127.0.0.1:${port}`;
  expect(run.out()).toContain(`Listening on ${base} (API 0.3.0), BASE_URL ${base}`);
  expect(run.out()).toContain('Payments: mock (signatures are verified, nothing is settled)');
  expect(run.out()).toContain('Store: sqlite, ');
  expect(run.out()).toContain('Catalog: 2026-08-14.2, 25 checks');

  const health = await fetch(`${base}/health`);
  expect(await health.json()).toMatchObject({ status: 'ok', paymentMode: 'mock', store: 'sqlite' });
  await fetch(`${base}/v1/status?url=secret.example.com`);
  await expect.poll(() => run.out()).toContain('"route":"/v1/status","status":200');
  expect(run.out()).not.toContain('secret.example.com');

  run.process.kill('SIGTERM');
  expect(await run.exited).toBe(0);
  expect(run.out()).toContain('Stopping on SIGTERM: scans in flight have 15 s to end');
});

test('a second process on the same store exits and says why in one line', async () => {
  const firstRun = start({ PORT: String(await freePort()), LOG_LEVEL: 'silent' });
  await waitUntilListening(firstRun);
  const secondRun = start({ PORT: String(await freePort()), LOG_LEVEL: 'silent' });
  expect(await secondRun.exited).toBe(1);
  expect(secondRun.err().trim().split('\n')).toHaveLength(1);
  expect(secondRun.err()).toContain('scanner.db');
});

test.each([
  ['EADDRNOTAVAIL', { HOST: '203.0.113.77', PORT: '4021' }],
  ['EAI_AGAIN|ENOTFOUND', { HOST: 'no-such-host.invalid', PORT: '4021' }],
])('%s is reported in one line, with HOST and PORT', async (code, settings) => {
  const run = start(settings);
  expect(await run.exited).toBe(1);
  expect(run.err()).toMatch(
    new RegExp(
      `^The service cannot listen \\(HOST="${settings.HOST}", PORT=4021\\): (${code}): .*\\.\n$`,
    ),
  );
});

test('a service that takes money at a private address says so', async () => {
  const run = start({
    PORT: String(await freePort()),
    PAYMENT_MODE: 'facilitator',
    FACILITATOR_URL: 'http://127.0.0.1:1',
    PAY_TO: '0x4020000000000000000000000000000000000402',
  });
  await expect
    .poll(run.out, { timeout: 20_000 })
    .toContain('BASE_URL is not a public https address');
});

test('SIGTERM to npm ends the service of "npm start" in order', async () => {
  const port = await freePort();
  const settings = { PORT: String(port), STORE_URL: `sqlite:${folder.at('store.db')}` };
  const npm = spawn('npm', ['start'], {
    cwd: ROOT,
    env: { PATH: process.env['PATH'], HOME: folder.path, ECOSYSTEM_URL: '', ...settings },
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  });
  try {
    let out = '';
    npm.stdout.setEncoding('utf8').on('data', (text: string) => {
      out += text;
    });
    await expect.poll(() => out, { timeout: 30_000 }).toContain('Listening on');
    npm.kill('SIGTERM');
    // The service holds the pipe until it ends.
    await once(npm, 'close');
    expect(out).toContain('Stopping on SIGTERM');
    const next = start(settings);
    await expect.poll(next.out, { timeout: 30_000 }).toContain('Listening on');
  } finally {
    if (npm.pid !== undefined) endGroup(npm.pid);
  }
});

function endGroup(leader: number): void {
  try {
    process.kill(-leader, 'SIGKILL');
  } catch {
    // All processes of the group have ended.
  }
}

test('a port in use is reported in one line', async () => {
  const port = String(await freePort());
  const firstRun = start({ PORT: port, LOG_LEVEL: 'silent' });
  await waitUntilListening(firstRun);
  const secondRun = start({ PORT: port, LOG_LEVEL: 'silent', STORE_URL: 'sqlite:./other.db' });
  expect(await secondRun.exited).toBe(1);
  expect(secondRun.err()).toMatch(
    /EADDRINUSE.*another process listens there\. Stop it, or set PORT\.\n$/,
  );
});

test('a bad setting in .env stops the start with one line, unless the environment overrides it', async () => {
  writeFileSync(folder.at('.env'), 'PORT=abc\nLOG_LEVEL=silent\n');
  const run = start({});
  expect(await run.exited).toBe(1);
  expect(run.err()).toBe(
    'PORT="abc" is not accepted: give a port from 1 to 65535, or 0 for any free one if BASE_URL is set.\n',
  );
  expect(run.out()).toBe('');
  const runWithValidPort = start({ PORT: String(await freePort()) });
  await waitUntilListening(runWithValidPort);
});

test('a misspelt setting is ignored, and a warning suggests the right name', async () => {
  const run = start({ PORT: String(await freePort()), PORTT: '1', LOG_LEVEL: 'silent' });
  await waitUntilListening(run);
  expect(run.err()).toBe(
    'PORTT in the environment is not a setting and is ignored: did you mean PORT?\n',
  );
});

test('a failing blockchain node is reported without the API key in its address', async () => {
  const key = 'a1b2c3d4e5f6a7b8';
  const run = start({
    PORT: String(await freePort()),
    PAYMENT_MODE: 'local',
    PAY_TO: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
    RPC_URL: `http://127.0.0.1:9/v2/${key}`,
    SETTLEMENT_KEY: `0x${'7'.repeat(64)}`,
  });
  await waitUntilListening(run);
  await expect.poll(() => run.out()).toContain('payments cannot be taken yet');
  expect(run.out() + run.err()).not.toContain(key);
  run.process.kill('SIGTERM');
  expect(await run.exited).toBe(0);
  expect(run.out() + run.err()).not.toContain('77777777');
});

test('an unknown catalog stops the start, and the message lists the known ones', async () => {
  const run = start({ CHECKS_VERSION: '2020-01-01.1' });
  expect(await run.exited).toBe(1);
  expect(run.err()).toMatch(
    /^CHECKS_VERSION="2020-01-01\.1" is not accepted: give one of 2026-07-25\.1, .*\.\n$/,
  );
});

/** Copies what a start needs into the folder of the test. */
function cloneSources(): string {
  const clone = folder.at('clone');
  for (const part of ['src', 'plugins', 'checks', 'catalog', 'package.json']) {
    cpSync(join(ROOT, part), join(clone, part), { recursive: true });
  }
  symlinkSync(join(ROOT, 'node_modules'), join(clone, 'node_modules'));
  return clone;
}

test('a file of a check that exports no check stops the start with one sentence', async () => {
  const clone = cloneSources();
  writeFileSync(join(clone, 'checks/S7-llms-txt/v1.ts'), 'export default 5;\n');
  const run = start({ PORT: String(await freePort()) }, join(clone, 'src/main.ts'));
  expect(await run.exited).toBe(1);
  expect(run.err()).toMatch(/^checks\/S7-llms-txt\/v1\.ts exports no check: [^\n]*\n$/);
});

test('the next start reuses compiled code, even if the process was killed', async () => {
  const clone = cloneSources();
  const run = start({ PORT: String(await freePort()) }, join(clone, 'src/main.ts'));
  await waitUntilListening(run);
  const countCompiledFiles = () =>
    readdirSync(join(clone, '.cache/compiled'), { recursive: true }).length;
  await expect.poll(countCompiledFiles).toBeGreaterThan(200);
  run.process.kill('SIGKILL');
  await run.exited;
  expect(countCompiledFiles()).toBeGreaterThan(200);
});
