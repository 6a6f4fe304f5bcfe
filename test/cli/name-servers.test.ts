/** The command line, with name servers of this machine. */
import { describe, expect, test } from 'vitest';
import { findRefusingServer, startNameServer } from '../fixtures/dns/name-server.ts';
import { runCli } from './run-cli.ts';

const PRELOAD = new URL('../fixtures/dns/use-name-servers.mjs', import.meta.url).href;
const TIMEOUT_MS = 120_000;
const PROXY_NOTE =
  'HTTPS_PROXY is set, but no proxy is used: the guard connects to origins itself.\n';

const runWith = (server: string, args: readonly string[], environment = {}) =>
  runCli(args, {
    NODE_OPTIONS: `--import=${PRELOAD}`,
    TEST_NAME_SERVERS: server,
    ...environment,
  });
const SCAN = ['scan', 'seller.example.com', '--offline', '--format', 'json'];
const PREFLIGHT = ['preflight', 'https://seller.example.com/weather'];

describe('name servers that answer nothing', () => {
  test.each([
    ['a scan', SCAN],
    ['a preflight', PREFLIGHT],
  ])(
    '%s is our fault: exit 2, one line and no report',
    async (_name, args) => {
      await using server = await startNameServer(() => 'SERVFAIL');
      expect(await runWith(server.address, args)).toEqual({
        code: 2,
        stdout: '',
        stderr:
          'the resolver of this machine answers neither for this name nor for others (ESERVFAIL): check the network of this machine, and ' +
          `${args === SCAN ? 'scan' : 'try'} again\n`,
      });
    },
    TIMEOUT_MS,
  );

  test(
    'a refused connection is our fault, and the proxy is named',
    async () => {
      const run = await runWith(await findRefusingServer(), SCAN, {
        HTTPS_PROXY: 'http://[::1]:1',
      });
      expect(run).toMatchObject({ code: 2, stdout: '' });
      expect(run.stderr).toMatch(/^HTTPS_PROXY is set.*\n.*\(ECONNREFUSED\)/);
    },
    TIMEOUT_MS,
  );
});

describe('a name that does not exist', () => {
  test(
    'is a finding, and standard error names a proxy that is not used',
    async () => {
      await using server = await startNameServer(() => 'NXDOMAIN');
      const run = await runWith(server.address, SCAN, { HTTPS_PROXY: 'http://[::1]:1' });
      expect({ code: run.code, stderr: run.stderr }).toEqual({ code: 0, stderr: PROXY_NOTE });
      const { results } = JSON.parse(run.stdout);
      expect(results.find(({ id }: { id: string }) => id === 'P1')).toMatchObject({
        outcome: 'dns',
        evidence: 'GET /: dns (the name does not exist (ENOTFOUND))',
      });
    },
    TIMEOUT_MS,
  );

  test(
    'is a no-go of a preflight; without a proxy nothing is said about one',
    async () => {
      await using server = await startNameServer(() => 'NXDOMAIN');
      const run = await runWith(server.address, PREFLIGHT, { HTTPS_PROXY: '' });
      expect(run).toMatchObject({ code: 1, stderr: '' });
      const proxied = await runWith(server.address, PREFLIGHT, { HTTPS_PROXY: 'http://[::1]:1' });
      expect(proxied).toMatchObject({ code: 1, stderr: PROXY_NOTE });
    },
    TIMEOUT_MS,
  );
});
