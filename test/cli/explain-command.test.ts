import { writeFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { explainCommand } from '../../src/cli/explain-command.ts';
import { UsageError } from '../../src/cli/usage.ts';
import { folderPerFile } from '../fixtures/temp-folder.ts';
import { report } from '../scanner/patches/reports.ts';
import { runCommand } from './run-cli.ts';

async function explain(...args: readonly string[]): Promise<string> {
  const { code, stdout } = await runCommand(explainCommand, ...args);
  expect(code).toBe(0);
  return stdout;
}

const folder = folderPerFile();

const saveReport = (origin = 'https://api.example.com') =>
  folder.write(`${origin.replace(/\W/g, '-')}.json`, report({ origin }));

describe('explain', () => {
  test('prints why, rule, fix, source and outcomes of a check', async () => {
    const text = await explain('P6');
    expect(text.split('\n')[0]).toMatch(
      /^P6 Price integrity \(price-integrity, major, protocol, P6@\d+\)$/,
    );
    for (const heading of ['WHY', 'RULE', 'FIX', 'SOURCE'])
      expect(text).toContain(`\n${heading}\n`);
    expect(text).toMatch(/\nOutcomes, first match wins: [a-z0-9-]+(?:, [a-z0-9-]+)+\n$/);
  });

  test('prints what the catalog knows of a scheme on a network', async () => {
    const hedera = await explain('p3', '--offer', 'exact,hedera:mainnet');
    expect(hedera).toMatch(/^exact on hedera:mainnet/);
    for (const words of [
      /judged by +the specification; no client is run/,
      /extra +feePayer: an address, not zero \(by cryptoTransfer\)/,
      /paymentFlow +authorization \(default\), upfront/,
      /specification specs\/schemes\/exact\/scheme_exact_hedera\.md, blob [0-9a-f]{40}, read 20/,
    ]) {
      expect(hedera).toMatch(words);
    }
    expect(await explain('P3', '--offer', 'upto,eip155:8453')).toContain('(@x402/evm)');
    expect(await explain('P3', '--offer', 'exact,sui:35834a8a')).toContain('does not judge it');
    const outdatedId = 'algorand:SGO1GKSzyE7IEPItTxCByw9x8FmnrCDexi9/cOUJOiI=';
    expect(await explain('P3', '--offer', `exact,${outdatedId}`)).toContain(
      'an outdated id: write algorand',
    );
  });

  test.each([
    'exact,foo:bar',
    'steal,eip155:8453',
    'upto,near:mainnet',
    'exact,hedera:moon',
    'batch-settlement,hedera:mainnet',
  ])('calls the pair %s unknown', async (pair) => {
    const [scheme, network] = pair.split(',');
    const text = await explain('P3', '--offer', pair);
    expect(text).toContain(`${scheme} on ${network}: unknown to this catalog`);
  });

  test('refuses a malformed pair, and --offer for a check other than P3', async () => {
    const pairs = [
      '',
      'exact',
      'exact,',
      ',eip155:1',
      'exact,base',
      'exact,eip155:1,x',
      'exact eip155:1',
    ];
    for (const pair of pairs) {
      const call = runCommand(explainCommand, 'P3', '--offer', pair);
      await expect(call).rejects.toThrow(UsageError);
    }
    const wrongCheck = runCommand(explainCommand, 'P6', '--offer', 'exact,eip155:1');
    await expect(wrongCheck).rejects.toThrow('only P3 judges offers by scheme and network');
  });

  test('accepts the id of a check in lower case', async () => {
    expect(await explain('s10')).toBe(await explain('S10'));
  });

  test('lists the stacks that have a patch, and prints the patch for the first stack', async () => {
    const text = await explain('P6');
    expect(text).toContain('\nPATCH\n\nStacks: express, hono, next, fastapi, flask, go, nginx (');
    expect(text).toContain("'GET /<route>': { price: '<price>'");
    expect(await explain('D1')).not.toContain('PATCH');
  });

  test('prints only the patch if a stack is given, and fills it with the values of a report', async () => {
    const text = await explain('p3', '--stack', 'fastapi', '--report', await saveReport());
    expect(text.split('\n')[0]).toMatch(/^P3 for fastapi\. /);
    expect(text).toContain('"resource": "https://api.example.com/summaries"');
    expect(text).toContain('"price": "$0.02"');
    expect(text).not.toContain('WHY');
    expect(await explain('D1', '--stack', 'go')).toMatch(/^D1: no patch/);
  });

  test('writes the path that was named into OpenAPI and manifest if no document sells anything', async () => {
    const file = folder.at('named.json');
    const saved = report({ paid: [] });
    const results = [{ id: 'P2', outcome: 'none-found' }];
    const named = { method: 'GET', path: '/api/gas?speed=1', status: 402, payableBy: 'default' };
    await writeFile(file, JSON.stringify({ ...saved, results, named }));
    const text = await explain('P2', '--stack', 'express', '--report', file);
    expect(text).toMatch(/^P2 for express\. Declare each paid path/);
    const [openapi, manifest] = ['--- openapi: ', '--- manifest: '].map((at) => text.indexOf(at));
    expect(openapi).toBeGreaterThan(0);
    expect(manifest).toBeGreaterThan(openapi ?? 0);
    expect(text).toContain('"/api/gas": {');
    expect(text).toContain('"https://api.example.com/api/gas"');
    expect(text).not.toContain('<route>');
  });

  test.each([
    ['no-terms', 'code cannot fix this: read the log of the payment middleware'],
    ['no-application', 'code cannot fix this: deploy the application'],
    ['closed', 'code cannot fix this: let callers without a login'],
    ['raw-json', 'Let the SDK write the challenge'],
    ['every-path', 'Guard only what you sell'],
  ])('prints for %s of P2 "%s"', async (outcome, words) => {
    const file = await folder.write(`${outcome}.json`, {
      ...report(),
      results: [{ id: 'P2', outcome }],
    });
    expect(await explain('P2', '--stack', 'express', '--report', file)).toContain(words);
  });

  test('explains a finding of a pay-test trial and its fix', async () => {
    const text = await explain('t7');
    expect(text.split('\n')[0]).toMatch(/^T7 replay /);
    for (const heading of ['WHY', 'FIX', 'PATCH']) expect(text).toContain(`\n${heading}\n`);
    expect(await explain('T7', '--stack', 'go')).toContain('claimed.LoadOrStore');
    const patch = await explain('T2', '--stack', 'hono', '--report', await saveReport());
    expect(patch).toContain("'GET /weather': sold1");
    expect(await explain('T6', '--stack', 'flask')).toContain('only the middleware can fix this');
  });

  test.each([
    'http://127.0.0.1:3300',
    'http://localhost:3300',
    'https://10.1.2.3',
    'http://[fd00::1]:80',
    'http://seller:3000',
    'https://shop.internal',
  ])(
    'prints --public-url or a placeholder instead of %s, which buyers cannot reach',
    async (origin) => {
      const args = ['--report', await saveReport(new URL(origin).origin)];
      for (const id of ['S1', 'S6', 'S7', 'S8', 'P3', 'S11', 'P1']) {
        const text = await explain(id, '--stack', 'express', ...args);
        expect(text).not.toContain(new URL(origin).hostname);
        const publicArgs = [...args, '--public-url', 'https://shop.example.org/'];
        expect(await explain(id, '--stack', 'express', ...publicArgs)).not.toContain(
          '<https://your-domain>',
        );
      }
      const patch = await explain('S6', '--stack', 'flask', ...args);
      expect(patch).toContain('<https://your-domain>/weather');
      const publicUrl = ['--public-url', 'https://shop.example.org'];
      expect(await explain('S6', '--stack', 'flask', ...args, ...publicUrl)).toContain(
        '"https://shop.example.org/weather"',
      );
    },
  );

  test.each([
    ['no.json', 'cannot be read as JSON'],
    ['package.json', 'no scan report'],
  ])('refuses %s as a report', async (file, words) => {
    const args = ['P3', '--report', file];
    await expect(runCommand(explainCommand, ...args)).rejects.toThrow(words);
  });

  test.each([
    [['P3', '--stack', 'rails'], '--stack "rails" is not one of express, hono'],
    [
      ['P3', '--public-url', 'shop.example.org'],
      '--public-url "shop.example.org": give only scheme',
    ],
    [['P3', '--public-url', 'https://shop.example.org/api'], 'give only scheme and host'],
    [['P3', '--odd'], "Unknown option '--odd'"],
    [['P99'], 'P99: no such check; there are P1, P2,'],
    [['P'], 'no such check'],
    [[], 'usage'],
    [['P1', 'P2'], 'usage'],
  ])('refuses %j', async (args, words) => {
    await expect(runCommand(explainCommand, ...args)).rejects.toThrow(words);
  });
});
