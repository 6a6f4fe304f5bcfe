/** `openapi FILE` runs the checks S1 to S4 on a file that no server serves yet. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openapiCommand } from '../../src/cli/openapi-command.ts';
import { collector } from './collector.ts';

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

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'openapi-'));
});
afterEach(() => rm(folder, { recursive: true }));

async function run(document: unknown, ...flags: readonly string[]) {
  const file = join(folder, 'openapi.json');
  const text = typeof document === 'string' ? document : JSON.stringify(document, null, 2);
  await writeFile(file, text);
  const { streams, written } = collector();
  const code = await openapiCommand([file, ...flags], streams);
  return { code, lines: written().replaceAll(file, 'openapi.json').split('\n').slice(0, -1) };
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
  const { code, lines } = await run('{');
  expect(code).toBe(1);
  expect(lines).toEqual([expect.stringMatching(/^openapi\.json:1: fail S1 /)]);
});

test.each([
  [[], 'usage: '],
  [['a.json', '--fail-on', 'pass'], 'usage: '],
  [['--nonsense', 'a.json'], "Unknown option '--nonsense'"],
])('openapi refuses the arguments %j', async (args, words) => {
  await expect(openapiCommand(args, collector().streams)).rejects.toThrow(words);
});
