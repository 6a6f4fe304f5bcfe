/** A command loads only the modules that it uses. Each module costs start time. */

import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { startCraftedSeller } from '../fixtures/origins/crafted-seller.ts';
import { openApiDocument, WEATHER } from '../fixtures/sellers/seller-documents.ts';
import { folderPerFile } from '../fixtures/temp-folder.ts';
import { type InstanceProcess, startInstance } from '../hosts/instance-process.ts';
import { newPurchase } from '../hosts/purchase.ts';
import { startStandIn } from '../scanner/indexes/stand-in.ts';
import { editOffer } from '../scanner/scan/crafted/row.ts';

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const RECORDING = 'test/fixtures/origins/recorded/newcomer.json';
const LOADED_MODULES_HOOK = new URL('../fixtures/loaded-modules.mjs', import.meta.url).href;

const DOCUMENT = openApiDocument('https://api.example.com').body;

const GENESIS_HASH = '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d';
const SOLANA_OFFER = {
  network: 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp',
  asset: 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v',
  payTo: '2wKupLR9q6wXYppw8Gr2NvWxKBUqm4PPJKkQfoxHDBg4',
  extra: { feePayer: 'EwWqGE4ZFKLofuestmU4LDdK7XM1N4ALgdZccwYugwGd' },
};

const folder = folderPerFile();

/** Returns packages by name, our own modules by path, and the number of worker threads. */
async function runCommand(...args: readonly string[]) {
  return await runCommandWith({}, ...args);
}

async function runCommandWith(
  environment: Readonly<Record<string, string>>,
  ...args: readonly string[]
) {
  const file = folder.at('loaded.json');
  const running = run(
    process.execPath,
    ['--import', LOADED_MODULES_HOOK, 'src/cli/main.ts', ...args],
    {
      cwd: ROOT,
      env: { PATH: process.env['PATH'], LOADED_TO: file, ...environment },
    },
  );
  // `mcp` ends when its standard input ends.
  running.child.stdin?.end();
  await running;
  return await readLoaded(file);
}

async function readLoaded(file: string) {
  const urls: readonly string[] = JSON.parse(await readFile(file, 'utf8'));
  const paths = urls.filter((url) => url.startsWith('file:')).map((url) => fileURLToPath(url));
  const [packaged, ownPaths] = [true, false].map((isPackaged) =>
    paths.filter((path) => path.includes('node_modules') === isPackaged),
  );
  const packages = new Set(
    packaged?.map((path) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1]),
  );
  return {
    packages: [...packages].sort(),
    ownPaths: ownPaths?.map((path) => path.slice(ROOT.length)) ?? [],
    threads: urls.filter((url) => url.startsWith('thread:')).length,
  };
}

test('--help loads no package and at most seven modules', async () => {
  const { packages, ownPaths } = await runCommand('--help');
  expect(packages).toEqual([]);
  expect(ownPaths.length).toBeLessThanOrEqual(7);
  expect(ownPaths.filter((path) => path.startsWith('src/scanner/parse/x402/'))).toEqual([]);
});

test('a replay of a recording loads no probing module, chain library or server', async () => {
  const { packages, ownPaths } = await runCommand('scan', '--offline', '--from', RECORDING);
  const chainPackages = packages.filter((name) => name === 'viem' || name?.startsWith('@x402/'));
  const servicePackages = packages.filter((name) => name === 'mongodb' || name === 'fastify');
  const clientPackages = packages.filter((name) => name === 'undici');
  expect([chainPackages, servicePackages, clientPackages]).toEqual([[], [], []]);
  expect(ownPaths).not.toContain('src/scanner/probe/client/client.ts');
  expect(ownPaths.filter((path) => path.startsWith('src/scanner/parse/kit/'))).toEqual([]);
});

test('a scan that asks only a node of Solana loads no library of EVM chains', async () => {
  const node = await startStandIn((_url, body) => ({
    json: { result: body.includes('getGenesisHash') ? GENESIS_HASH : { value: [] } },
  }));
  onTestFinished(() => node.close());
  const seller = await startCraftedSeller({
    answers: { '/weather': editOffer(WEATHER, SOLANA_OFFER) },
  });
  onTestFinished(() => seller[Symbol.asyncDispose]());
  const { packages } = await runCommandWith(
    {
      ...{ X402SCAN_URL: '', BAZAAR_URL: '', ECOSYSTEM_URL: '', RPC_URL: '' },
      SOLANA_RPC_URL: node.url,
      // An answer in the cache of an earlier run would spare the node.
      STANDING_CACHE: folder.at('standing'),
    },
    ...['scan', seller.url, '--allow-private'],
  );
  expect(node.requestedPaths.length).toBeGreaterThan(0);
  expect(packages).not.toContain('viem');
});

test('only a YAML file makes openapi load the package that reads YAML', async () => {
  const json = await folder.write('openapi.json', DOCUMENT);
  const yaml = await folder.write('openapi.yaml', `# YAML\n${DOCUMENT}`);
  const readPackages = async (file: string) => (await runCommand('openapi', file)).packages;
  expect(await readPackages(json)).not.toContain('yaml');
  expect(await readPackages(yaml)).toContain('yaml');
});

test('explain loads only the check that it explains, and no probing module', async () => {
  const { packages, ownPaths } = await runCommand('explain', 'P6');
  expect(selectNetworkPackages(packages)).toEqual([]);
  expect(ownPaths.filter((path) => path.startsWith('checks/') && !path.includes('/P6-'))).toEqual(
    [],
  );
  expect(ownPaths.filter((path) => path.startsWith('src/scanner/workers/threads'))).toEqual([]);
});

/** Packages that request chains, indexes and stores, run official clients, or recover signatures. */
function selectNetworkPackages(packages: readonly (string | undefined)[]) {
  return packages.filter((name) => /^(viem|@x402\/|undici|mongodb|tldts)/.test(name ?? ''));
}

test('diff compares two reports without an engine', async () => {
  const report = folder.at('report.json');
  await run(
    process.execPath,
    [
      ...['src/cli/main.ts', 'scan', '--offline', '--from', RECORDING],
      ...['--format', 'json', '--output', report],
    ],
    { cwd: ROOT },
  );
  const { packages, ownPaths, threads } = await runCommand('diff', report, report);
  expect([selectNetworkPackages(packages), threads]).toEqual([[], 0]);
  expect(ownPaths.filter((path) => path.startsWith('src/scanner/workers/threads'))).toEqual([]);
});

test('a preflight that the guard refuses loads no chain library and sends nothing', async () => {
  const { packages, threads } = await runCommand('preflight', 'https://10.0.0.1/').catch(
    async () => await readLoaded(folder.at('loaded.json')),
  );
  expect(selectNetworkPackages(packages).filter((name) => name !== 'undici')).toEqual([]);
  expect(threads).toBe(0);
});

test('mcp loads no chain library before a tool is called', async () => {
  const { packages } = await runCommand('mcp');
  expect(packages).not.toContain('viem');
});

/** Runs `work` against a service, stops the service, and returns the modules that it loaded. */
async function runService(work: (instance: InstanceProcess) => Promise<void>) {
  const file = folder.at('service.json');
  const instance = await startInstance({
    STORE_URL: `sqlite:${folder.at('scanner.db')}`,
    NODE_OPTIONS: `--import ${LOADED_MODULES_HOOK}`,
    LOADED_TO: file,
  });
  try {
    await work(instance);
    await instance.kill('SIGTERM');
  } finally {
    await instance.kill('SIGKILL');
  }
  return await readLoaded(file);
}

test('a service that answers only free calls starts no worker thread, and loads no scanning module', async () => {
  const { packages, ownPaths, threads } = await runService(async (instance) => {
    for (const path of [
      '/health',
      '/v1/status?url=https://api.example.com',
      '/v1/checks',
      '/v1/directory',
    ]) {
      expect((await instance.get(path)).status).toBe(200);
    }
  });
  const scanningModules = [
    'src/scanner/engine/judging-pool',
    'src/scanner/scan/observe',
    'src/scanner/scan/run-scan',
  ];
  expect(
    ownPaths.filter((path) => scanningModules.some((start) => path.startsWith(start))),
  ).toEqual([]);
  const unusedPackages = ['zod', 'badge-maker', 'marked'];
  const sdk = packages.filter((name) => name?.startsWith('@modelcontextprotocol/'));
  expect(selectNetworkPackages(packages)).toEqual(['@x402/core', '@x402/extensions']);
  expect(packages.filter((name) => unusedPackages.includes(name ?? ''))).toEqual([]);
  expect([sdk, threads]).toEqual([[], 0]);
});

test('the first payment loads signature recovery and no chain client', async () => {
  const { headers } = await newPurchase('changes');
  const { packages } = await runService(async (instance) => {
    const path = '/v1/changes?since=2026-01-01T00:00:00Z';
    expect((await instance.get(path, headers)).status).toBe(200);
  });
  expect(selectNetworkPackages(packages)).toEqual([
    '@x402/core',
    '@x402/evm',
    '@x402/extensions',
    'viem',
  ]);
});
