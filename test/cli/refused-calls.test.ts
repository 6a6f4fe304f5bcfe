import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runCli } from './run-cli.ts';

let listener: Server;
let port: number;
let connections = 0;
let folder: string;
beforeAll(async () => {
  listener = createServer((socket) => {
    connections += 1;
    socket.destroy();
  });
  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  port = (listener.address() as AddressInfo).port; // it listens on a port
  folder = await mkdtemp(join(tmpdir(), 'refused-'));
});
afterAll(async () => {
  listener.close();
  await rm(folder, { recursive: true });
});

/** Exit 2, nothing printed, one line that says so, and nobody was called. */
async function refusal(
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

describe('origins that are refused', () => {
  test.each([
    ['http://127.0.0.1:PORT', 'https URL'],
    ['http://api.example.com', 'https URL'],
    ['ftp://127.0.0.1:PORT', 'https URL'],
    ['https://user@127.0.0.1:PORT', 'user information'],
    ['https://127.0.0.1:PORT', 'port'],
    ['127.0.0.1', 'public internet'],
    ['localhost', 'special-use'],
    ['https://[::ffff:127.0.0.1]', 'public internet'],
    ['https://10.0.0.1', 'public internet'],
    ['nonsense', 'single label'],
    ['https://', 'https URL'],
    ['https://a b.example.com', 'space'],
  ])('%s', async (origin, words) => {
    expect(await refusal(['scan', origin.replace('PORT', String(port))])).toContain(words);
  });

  test.each(['ftp://127.0.0.1:PORT', 'http://user@127.0.0.1:PORT', 'http://127.0.0.1:PORTx', ''])(
    '%s, with --allow-private too',
    async (origin) => {
      await refusal(['scan', origin.replace('PORT', String(port)), '--allow-private']);
    },
  );
});

describe('calls that are refused before anybody is asked', () => {
  const scan = (...flags: readonly string[]) =>
    refusal(['scan', `http://127.0.0.1:${port}`, '--allow-private', ...flags]);

  test('a format that does not exist, with the list', async () => {
    expect(await scan('--format', 'nonsense')).toBe(
      '--format "nonsense" is not one of text, json, sarif, junit, markdown\n',
    );
  });

  test('a check that does not exist, with the list', async () => {
    expect(await scan('--only', 'P1,P9')).toMatch(/^--only P9: no such check; there are P1, P2,/);
  });

  test('a catalog that does not exist, with the list', async () => {
    expect(await scan('--checks-version', '2020-01-01.1')).toBe(
      '--checks-version 2020-01-01.1: there are 2026-07-25.1, 2026-08-14.2\n',
    );
  });

  test('a setting that cannot be, by name', async () => {
    const origin = `http://127.0.0.1:${port}`;
    const line = await refusal(['scan', origin, '--allow-private'], { X402SCAN_URL: 'nonsense' });
    expect(line).toContain('X402SCAN_URL');
  });

  test('a command that does not exist, or none', async () => {
    expect(await refusal(['frob'])).toContain(
      'frob: no such command; there are scan, explain, diff',
    );
    expect(await refusal(['toString'])).toContain('no such command');
    expect(await refusal([])).toContain('a command is missing');
    expect(await refusal(['explain', 'P99'])).toContain('no such check');
    expect(await refusal(['scan', 'diff', 'a.json'])).toContain('usage');
  });

  test('a recording that cannot be read, by place', async () => {
    const file = join(folder, 'recording.json');
    expect(await refusal(['scan', '--from', file])).toContain(`${file}: cannot be read`);
    await writeFile(file, '{"half":');
    expect(await refusal(['scan', '--from', file])).toContain(`${file}: not JSON`);
    await writeFile(file, JSON.stringify({ format: 'x402-scan-observations', schemaVersion: 99 }));
    expect(await refusal(['scan', '--from', file])).toMatch(/schema version 1 \(\S+ .+\)/);
    const foreign = {
      format: 'x402-scan-observations',
      schemaVersion: 99,
      scannedAt: 'x',
      observations: {},
    };
    await writeFile(file, JSON.stringify(foreign));
    expect(await refusal(['scan', '--from', file])).toContain('/schemaVersion');
    expect(JSON.parse(await readFile(file, 'utf8'))).toEqual(foreign);
  });
});

test('--help is no failure', async () => {
  const { code, stdout, stderr } = await runCli(['scan', '--help']);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toContain('--min-grade A|B|C|D');
});
