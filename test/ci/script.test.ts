/** ci/x402-scan.sh in checkouts of its own, with stand-ins for npm and for the Node on the PATH. */

import { spawnSync } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { folderPerFile } from '../fixtures/temp-folder.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const SCRIPT = 'ci/x402-scan.sh';
const LINKED = ['src', 'tools', 'catalog', 'checks', 'package.json'];
/** A Node of another libc, whose loader is missing, as glibc's is on Alpine. */
const OTHER_LIBC = '#!/missing/ld-linux.so.2\n';
/** A Node that is too old. */
const OLD_NODE = '#!/bin/sh\nexit 1\n';
const FIT_NODE = `#!/bin/sh\nexec "${process.execPath}" "$@"\n`;
const VERSION = /^\d+\.\d+\.\d+\n$/;

const folder = folderPerFile();

type Machine = {
  readonly systemNode: string;
  /** The Node that the lockfile brings. */
  readonly ownNode: string | null;
  readonly ping?: string;
  /** Exit code of `npm ci`. */
  readonly install?: number;
};

async function createCheckout({ systemNode, ownNode, ping = 'exit 0', install = 0 }: Machine) {
  const home = await mkdtemp(folder.at('machine-'));
  const [checkout, bin, modules] = [join(home, 'checkout'), join(home, 'bin'), join(home, 'npm')];
  for (const path of [join(checkout, 'ci'), bin, join(modules, '.bin')]) {
    await mkdir(path, { recursive: true });
  }
  await copyFile(join(ROOT, SCRIPT), join(checkout, SCRIPT));
  for (const name of LINKED) await symlink(join(ROOT, name), join(checkout, name));
  await writeFile(join(modules, '.package-lock.json'), '{}');
  if (ownNode !== null) await writeFile(join(modules, '.bin/node'), ownNode, { mode: 0o755 });
  const npm = `#!/bin/sh
echo "$*" >> "${home}/npm.log"
if [ "$1" = ping ]; then ${ping}; fi
[ ${install} = 0 ] && ln -s "${modules}" node_modules
exit ${install}
`;
  await writeFile(join(bin, 'npm'), npm, { mode: 0o755 });
  await writeFile(join(bin, 'node'), systemNode, { mode: 0o755 });
  return {
    run() {
      const env = { PATH: `${bin}:/usr/bin:/bin` };
      const options = { cwd: home, env, encoding: 'utf8' } as const;
      return spawnSync('sh', [join(checkout, SCRIPT), '--version'], options);
    },
    listInstalls: async () => {
      const lines = (await readFile(join(home, 'npm.log'), 'utf8')).trim().split('\n');
      return lines.filter((line) => line.startsWith('ci '));
    },
  };
}

test('a Node 24 of the system is used, and neither another Node nor a linter is installed', async () => {
  const checkout = await createCheckout({ systemNode: FIT_NODE, ownNode: null });
  for (const _time of ['first', 'second']) expect(checkout.run().stdout).toMatch(VERSION);
  expect(await checkout.listInstalls()).toEqual([
    'ci --omit=dev --omit=optional --ignore-scripts --no-audit --no-fund',
  ]);
});

test('beside an old Node of the system, the Node of the lockfile is installed and used', async () => {
  const checkout = await createCheckout({ systemNode: OLD_NODE, ownNode: FIT_NODE });
  expect(checkout.run().stdout).toMatch(VERSION);
  expect(await checkout.listInstalls()).toEqual([
    'ci --omit=dev --ignore-scripts --no-audit --no-fund',
  ]);
});

test('a Node of another libc is not used, although its file exists', async () => {
  const checkout = await createCheckout({ systemNode: FIT_NODE, ownNode: OTHER_LIBC });
  expect(checkout.run().stdout).toMatch(VERSION);
});

test('without a Node that runs, a sentence says what to install', async () => {
  const checkout = await createCheckout({ systemNode: OLD_NODE, ownNode: OTHER_LIBC });
  const { status, stdout, stderr } = checkout.run();
  expect([status, stdout]).toEqual([2, '']);
  expect(stderr).toBe(
    'x402-scan: no Node here runs the scanner: install Node 24 (on Alpine: the image node:24-alpine)\n',
  );
});

const NO_NETWORK = 'echo "npm error code ENOTFOUND" >&2; exit 1';

test('without network, only the cache of npm is tried, and a sentence says why that failed', async () => {
  const machine = { systemNode: FIT_NODE, ownNode: null, ping: NO_NETWORK, install: 1 };
  const checkout = await createCheckout(machine);
  const { status, stderr } = checkout.run();
  expect([status, stderr]).toEqual([
    2,
    expect.stringMatching(/^x402-scan: the registry of npm gives no answer: .* network/),
  ]);
  expect(await checkout.listInstalls()).toEqual([expect.stringMatching(/ --offline$/)]);
});

test('a registry that knows no ping is a network', async () => {
  const ping = 'echo "npm error code E404" >&2; exit 1';
  const checkout = await createCheckout({ systemNode: FIT_NODE, ownNode: null, ping });
  expect(checkout.run().stdout).toMatch(VERSION);
  expect(await checkout.listInstalls()).toEqual([expect.not.stringContaining('--offline')]);
});
