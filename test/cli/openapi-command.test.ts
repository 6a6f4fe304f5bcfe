/** `openapi FILE` runs the checks S1 to S4 on a file that no server serves yet. */

import { expect, test } from 'vitest';
import { openapiCommand } from '../../src/cli/openapi-command.ts';
import { folderPerTest } from '../fixtures/temp-folder.ts';
import { runCommand } from './run-cli.ts';

const CORRECT_DOCUMENT = {
  openapi: '3.1.0',
  info: {
    title: 'Weather',
    version: '1',
    contact: { url: 'https://api.example.com' },
    'x-guidance': 'Ask GET /weather.',
  },
  components: { securitySchemes: { x402: { type: 'http', scheme: 'x402' } } },
  paths: {
    '/weather': {
      get: {
        security: [{ x402: [] }],
        'x-payment-info': {
          price: { mode: 'fixed', currency: 'USD', amount: '0.010000' },
          protocols: [{ x402: {} }],
        },
        responses: { '200': { description: 'weather' }, '402': { description: 'pay' } },
      },
    },
  },
};

const folder = folderPerTest();

/** Judges a text, or a value as JSON. */
async function run(document: unknown, ...flags: readonly string[]) {
  const text = typeof document === 'string' ? document : JSON.stringify(document, null, 2);
  return runFile('openapi.json', text, flags);
}

const runYaml = (text: string) => runFile('openapi.yaml', text);

async function runFile(name: string, text: string, flags: readonly string[] = []) {
  const file = await folder.write(name, text);
  const { code, stdout } = await runCommand(openapiCommand, file, ...flags);
  return { code, lines: stdout.replaceAll(file, name).split('\n').slice(0, -1) };
}

test('a correct document has no finding', async () => {
  expect(await run(CORRECT_DOCUMENT, '--fail-on', 'warn')).toEqual({ code: 0, lines: [] });
});

test('a finding names the file and the line', async () => {
  const { contact: _, ...info } = CORRECT_DOCUMENT.info;
  const result = await run({ ...CORRECT_DOCUMENT, info });
  expect(result.code).toBe(0);
  expect(result.lines).toEqual([
    expect.stringMatching(/^openapi\.json:3: warn S1 openapi-present: .*\/info\/contact/),
  ]);
  expect(await run({ ...CORRECT_DOCUMENT, info }, '--fail-on', 'warn')).toMatchObject({ code: 1 });
});

test('a failed check makes the command exit with 1', async () => {
  const { '402': _, ...responses } = CORRECT_DOCUMENT.paths['/weather'].get.responses;
  const get = { ...CORRECT_DOCUMENT.paths['/weather'].get, responses };
  const { code, lines } = await run({ ...CORRECT_DOCUMENT, paths: { '/weather': { get } } });
  expect(code).toBe(1);
  expect(lines).toEqual([
    expect.stringMatching(/^openapi\.json:\d+: fail S4 paid-ops-security-402/),
  ]);
});

test('a file that is not OpenAPI fails S1, and the checks that depend on S1 are not listed', async () => {
  const { code, lines } = await run('{}');
  expect(code).toBe(1);
  expect(lines).toEqual([expect.stringMatching(/^openapi\.json:1: fail S1 /)]);
});

test('a file that is neither JSON nor YAML is a usage error', async () => {
  await expect(run('{')).rejects.toThrow(
    /\/openapi\.json:1: not JSON: it breaks off .*characters$/,
  );
  await expect(run('{\n  "a": 1,\n}')).rejects.toThrow(
    /\/openapi\.json:3: not JSON at character \d+$/,
  );
  await expect(run('{"a": 1}}')).rejects.toThrow(/\/openapi\.json:1: not JSON at character 9$/);
  await expect(run('openapi: 3.1.0\n')).rejects.toThrow('ends in .yaml or .yml');
  await expect(runYaml('a: [')).rejects.toThrow('openapi.yaml: not YAML at line 1');
  await expect(runYaml('- openapi: 3.1.0')).rejects.toThrow('openapi.yaml: YAML, but not a map');
  await expect(runYaml('a: 1\na: 2\n')).rejects.toThrow('two members "a" in one map, at line 2');
});

test('an operation that would serve the file itself is not known to be free', async () => {
  const document = {
    openapi: '3.1.0',
    info: {
      title: 'Data',
      version: '1',
      contact: { email: 'a@seller.example' },
      'x-guidance': 'Ask.',
    },
    paths: { '/': { get: {} }, '/openapi.json': { get: {} } },
  };
  const { lines } = await run(document);
  expect(lines).toContainEqual(
    expect.stringMatching(/warn S3 .*: 2 of 2 operations in \/openapi\.json do not say/),
  );
});

test('a YAML file is judged as its JSON, by its lines', async () => {
  const lines = [
    'openapi: 3.1.0',
    'info: { title: Weather, version: 1.0.0 }',
    'paths:',
    '  /weather:',
    '    get:',
    '      x-payment-info: { price: { mode: fixed, currency: USD, amount: "0.01" } }',
    '      responses: { 200: { description: weather } }',
  ];
  const result = await runYaml(lines.join('\n'));
  expect(result.code).toBe(1);
  expect(result.lines).toContainEqual(
    expect.stringMatching(/^openapi\.yaml:1: warn S1 .*YAML at \/openapi\.yaml/),
  );
  expect(result.lines).toContainEqual(expect.stringMatching(/^openapi\.yaml:\d+: fail S4 /));
});

test('a YAML file over our limits is judged, and the finding names the limit', async () => {
  const { code, lines } = await runYaml(`openapi: 3.1.0\nx:\n${'- a\n'.repeat(20_000)}`);
  expect(code).toBe(0);
  expect(lines[0]).toMatch(/^openapi\.yaml:1: warn S1 .*over 20000 values/);
});

test.each([
  [[], 'usage: '],
  [['a.json', '--fail-on', 'pass'], 'usage: '],
  [['--nonsense', 'a.json'], "Unknown option '--nonsense'"],
])('openapi refuses the arguments %j', async (args, words) => {
  await expect(runCommand(openapiCommand, ...args)).rejects.toThrow(words);
});
