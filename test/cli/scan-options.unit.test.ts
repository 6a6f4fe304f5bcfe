import { describe, expect, test } from 'vitest';
import { parseScanOptions } from '../../src/cli/scan-command.ts';
import { UsageError } from '../../src/cli/usage.ts';

const ORIGIN = 'https://api.example.com';

function expectRefusal(...args: string[]): string {
  try {
    parseScanOptions(args);
  } catch (error) {
    expect(error).toBeInstanceOf(UsageError);
    const { message } = error as UsageError; // the line above checks it
    expect(message).not.toContain('\n');
    return message;
  }
  throw new Error(`${args.join(' ')} was accepted`);
}

describe('the flags of scan', () => {
  test('are all optional', () => {
    expect(parseScanOptions([ORIGIN])).toEqual({
      origin: ORIGIN,
      resource: null,
      method: null,
      allowPrivate: false,
      format: 'text',
      output: null,
      minGrade: null,
      minPayable: null,
      failOn: null,
      only: null,
      checksVersion: null,
      save: null,
      from: null,
      offline: false,
      rpc: null,
      solanaRpc: null,
      mcp: null,
      sources: [],
      timing: false,
    });
  });

  test('accept a resource after the origin', () => {
    const resourcePaths = [
      [ORIGIN],
      [`${ORIGIN}/`],
      [`${ORIGIN}/weather`],
      ['api.example.com/weather?city=Paris'],
      [`${ORIGIN}/?q=1`],
      [`${ORIGIN}/mcp`, '--mcp'],
      [`${ORIGIN}/weather`, '--from', 'scan.json'],
    ].map((args) => parseScanOptions(args).resource);
    expect(resourcePaths).toEqual([
      null,
      null,
      '/weather',
      '/weather?city=Paris',
      '/?q=1',
      null,
      null,
    ]);
  });

  test('accept the MCP endpoint as an argument or as the path of the origin', () => {
    const endpoints = [
      [ORIGIN, '--mcp'],
      [`${ORIGIN}/`, '--mcp'],
      [ORIGIN, '--mcp', '/tools/mcp'],
      ['--mcp', '/tools/mcp', 'api.example.com'],
      ['api.example.com/tools/mcp?a=1', '--mcp'],
    ].map((args) => parseScanOptions(args).mcp?.path);
    expect(endpoints).toEqual([null, null, '/tools/mcp', '/tools/mcp', '/tools/mcp?a=1']);
    expect(expectRefusal(ORIGIN, '--mcp', '/a', '/b')).toContain('one endpoint');
    expect(expectRefusal(ORIGIN, '/a')).toContain('one origin');
  });

  test('can all be given in one command, before and after the origin', () => {
    const args =
      '--allow-private --method post --format sarif --output o.json --min-grade B --min-payable settings --fail-on warn --only P1,s* ' +
      `--checks-version 2026-07-25.1 ${ORIGIN} --save s.json --from f.json --offline --rpc http://node.example --solana-rpc=http://sol.example --mcp --timing ` +
      '--source /openapi.json=a.json --source=/llms.txt=b.txt';
    expect(parseScanOptions(args.split(' '))).toEqual({
      origin: ORIGIN,
      resource: null,
      method: 'POST',
      allowPrivate: true,
      format: 'sarif',
      output: 'o.json',
      minGrade: 'B',
      minPayable: 'settings',
      failOn: 'warn',
      only: ['P1', 'S*'],
      checksVersion: '2026-07-25.1',
      save: 's.json',
      from: 'f.json',
      offline: true,
      rpc: 'http://node.example',
      solanaRpc: 'http://sol.example',
      mcp: { path: null },
      sources: ['/openapi.json=a.json', '/llms.txt=b.txt'],
      timing: true,
    });
  });

  test('accept a value after "=", and a list with spaces', () => {
    const options = parseScanOptions([ORIGIN, '--format=json', '--only=P1, d*']);
    expect(options).toMatchObject({ format: 'json', only: ['P1', 'D*'] });
  });

  test('need an origin or a recording', () => {
    expect(expectRefusal()).toContain('an origin is missing');
    expect(parseScanOptions(['--from', 'f.json'])).toMatchObject({ origin: null, from: 'f.json' });
    expect(expectRefusal(ORIGIN, 'https://b.example')).toContain(
      'one origin at a time: 2 were given',
    );
  });

  test.each([
    [['--format', 'nonsense'], 'text, json, sarif, junit, markdown'],
    [['--format', 'JSON'], 'text, json, sarif, junit, markdown'],
    [['--min-grade', 'F'], '--min-grade "F" is not one of A, B, C, D'],
    [['--min-grade', 'a'], 'A, B, C, D'],
    [['--fail-on', 'pass'], '--fail-on "pass" is not one of fail, warn'],
    [['--only', ''], 'give ids and prefixes, such as P1,S*'],
    [['--only', 'P1,,P2'], 'give ids and prefixes'],
    [['--only', '*P'], 'give ids and prefixes'],
    [['--only', 'P1;S2'], 'give ids and prefixes'],
    [['--nonsense'], "Unknown option '--nonsense'"],
    [['--offline=yes'], '--offline'],
    [['--format'], '--format'],
    [['--output', '--timing'], '--output'],
  ])('refuse %j with a message that contains "%s"', (args, words) => {
    expect(expectRefusal(ORIGIN, ...args)).toContain(words);
  });
});
