import { writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { preflightCommand } from '../../src/cli/preflight-command.ts';
import { scanCommand } from '../../src/cli/scan-command.ts';
import { OriginRefused } from '../../src/scanner/guard/failures.ts';
import { listenLocally } from '../fixtures/service/local-server.ts';
import { folderPerFile } from '../fixtures/temp-folder.ts';
import { runCli, runCommand } from './run-cli.ts';

const UNKNOWN_RECORDING = {
  format: 'x402-scan-observations',
  schemaVersion: 99,
  scannedAt: 'yesterday',
  observations: {},
};

let listener: Server;
let port: number;
let connections = 0;
const folder = folderPerFile();
beforeAll(async () => {
  listener = createServer((socket) => {
    connections += 1;
    socket.destroy();
  });
  ({ port } = await listenLocally(listener));
});
afterAll(async () => {
  listener.close();
});

/** Expects exit code 2, no output, one line of error, and no connection. Returns that line. */
async function expectRefusal(
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<string> {
  const { code, stdout, stderr } = await runCli(args, environment);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toMatch(/^[^\n]+\n$/);
  expect(stderr).not.toContain('    at ');
  expect(connections).toBe(0);
  return stderr;
}

describe('a refused origin:', () => {
  const FLAG_ADVICE =
    'Add --allow-private to allow http, private and loopback addresses, on any port.';

  test.each([
    'http://localhost:PORT/weather',
    'https://127.0.0.1:PORT',
    'http://[::1]:PORT',
    'https://10.0.0.1',
    'http://api.internal',
  ])('%s is refused, and the message names the flag that would allow it', async (origin) => {
    const originArg = origin.replace('PORT', String(port));
    expect(await expectRefusal(['scan', originArg])).toContain(FLAG_ADVICE);
    const { code, stdout } = await runCommand(preflightCommand, originArg);
    expect(code).toBe(1);
    expect(stdout).toContain(FLAG_ADVICE);
  });

  test.each(['ftp://127.0.0.1', 'https://user@127.0.0.1', 'https://a..b'])(
    '%s is refused, and the message names no flag, since no flag would allow it',
    async (origin) => {
      await expect(runCommand(scanCommand, origin)).rejects.not.toThrow('--allow');
    },
  );

  test.each([
    ['http://127.0.0.1:PORT', 'https URL'],
    ['ftp://127.0.0.1:PORT', 'https URL'],
    ['https://user@127.0.0.1:PORT', 'user information'],
    ['https://127.0.0.1:PORT', 'port'],
    ['nonsense', 'single label'],
  ])('%s is refused: the message contains "%s"', async (origin, words) => {
    expect(await expectRefusal(['scan', origin.replace('PORT', String(port))])).toContain(words);
  });

  test('http://user@127.0.0.1 is refused with --allow-private too', async () => {
    await expectRefusal(['scan', `http://user@127.0.0.1:${port}`, '--allow-private']);
  });

  test.each([
    ['http://api.example.com', 'https URL'],
    ['127.0.0.1', 'public internet'],
    ['localhost', 'special-use'],
    ['https://[::ffff:127.0.0.1]', 'public internet'],
    ['https://10.0.0.1', 'public internet'],
    ['https://', 'https URL'],
    ['', 'https URL'],
    ['https://a b.example.com', 'space'],
  ])('%j is refused, and the message contains "%s"', async (origin, words) => {
    await expect(runCommand(scanCommand, origin)).rejects.toThrow(words);
  });

  test.each(['ftp://127.0.0.1:PORT', 'http://127.0.0.1:PORTx', 'http://[::1', 'http://a\\b', ''])(
    '%j is refused with --allow-private too',
    async (origin) => {
      const input = origin.replace('PORT', String(port));
      const scanRun = runCommand(scanCommand, input, '--allow-private');
      await expect(scanRun).rejects.toThrow(OriginRefused);
    },
  );
});

describe('a call that is refused before any request:', () => {
  const scan = (...flags: readonly string[]) =>
    expectRefusal(['scan', `http://127.0.0.1:${port}`, '--allow-private', ...flags]);

  test('an unknown format; the message lists the formats', async () => {
    expect(await scan('--format', 'nonsense')).toBe(
      '--format "nonsense" is not one of text, json, sarif, junit, markdown, github, codequality\n',
    );
  });

  test('a check that does not exist; the message lists the checks', async () => {
    expect(await scan('--only', 'P1,P9')).toMatch(/^--only P9: no such check; there are P1, P2,/);
  });

  test('a catalog that does not exist; the message lists the catalogs', async () => {
    expect(await scan('--checks-version', '2020-01-01.1')).toMatch(
      /^--checks-version 2020-01-01\.1: there are 2026-07-25\.1, 2026-08-14\.2, (?:.*, )?service\n$/,
    );
  });

  test('a setting with an invalid URL; the message names the setting', async () => {
    const origin = `http://127.0.0.1:${port}`;
    const line = await expectRefusal(['scan', origin, '--allow-private'], {
      X402SCAN_URL: 'nonsense',
    });
    expect(line).toContain('X402SCAN_URL');
  });

  test('a command that does not exist, or a missing command', async () => {
    expect(await expectRefusal(['toString'])).toContain(
      'toString: no such command; there are scan, explain, diff',
    );
    expect(await expectRefusal([])).toContain('a command is missing');
    expect(await expectRefusal(['scan', 'diff', 'a.json'])).toContain('usage');
  });

  test('a recording of another schema version; the message names the member /schemaVersion', async () => {
    const file = await folder.write('foreign.json', {
      ...UNKNOWN_RECORDING,
      scannedAt: '2026-08-20T12:00:00Z',
    });
    const line = await expectRefusal(['scan', '--from', file]);
    expect(line).toContain(`${file}: no recording of schema version 2 (/schemaVersion `);
  });

  test('a file with line breaks as recording; the message is one line, and advises --save', async () => {
    const file = await folder.write('lines.json', 'x\ny\n');
    expect(await expectRefusal(['scan', '--from', file])).toMatch(
      /not JSON \(.+\); make it with --save\n$/,
    );
  });

  test.each([
    ['missing', null, 'cannot be read'],
    ['truncated', '{"half":', 'not JSON'],
    ['empty', '{}', "(/ must have required property 'format')"],
    ['no time', JSON.stringify({ ...UNKNOWN_RECORDING, schemaVersion: 1 }), '(/scannedAt '],
    [
      'no observations',
      JSON.stringify({ ...UNKNOWN_RECORDING, schemaVersion: 1, scannedAt: '2026-08-20T12:00:00Z' }),
      '(/observations ',
    ],
  ])('an unreadable recording (%s); the message names the fault', async (name, text, words) => {
    const file = folder.at(`${name}.json`);
    if (text !== null) await writeFile(file, text);
    await expect(runCommand(scanCommand, '--from', file)).rejects.toThrow(words);
  });
});

describe('--help', () => {
  test.each([
    [['--help'], '--min-grade A|B|C|D'],
    [['scan', '--help'], '--min-grade A|B|C|D'],
    [['explain', '--help'], '--stack NAME '],
    [['scan', 'explain', '-h'], '--stack NAME '],
    [['diff', 'a.json', '--help'], '--fail-on-regression '],
    [['preflight', '--help'], '--max-price 0.05 '],
    [['mcp', '--help'], '--service URL '],
    [['capture', '--help'], 'for a bug report'],
    [['openapi', '--help'], 'before you serve them'],
  ])('%j succeeds, and prints the help of this command', async (args, words) => {
    const { code, stdout, stderr } = await runCli(args);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const command = args.find((arg) => arg !== 'scan' && !arg.startsWith('-')) ?? 'scan';
    expect(stdout).toMatch(new RegExp(`^usage: npm run (?:scan -- )?${command} `));
    expect(stdout).toContain(words);
  });
});

test('--version prints the version', async () => {
  const { code, stdout } = await runCli(['--version']);
  expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) });
});
