import { expect, test } from 'vitest';
import { parsePayTest } from '../../src/cli/pay-test-command.ts';

const SELLER = 'http://127.0.0.1:3000';

test('pay-test needs only the address of a seller', () => {
  expect(parsePayTest([SELLER])).toEqual({
    target: SELLER,
    start: null,
    routes: [],
    failingRoute: null,
    body: null,
    only: null,
    facilitatorHost: '127.0.0.1',
    facilitatorPort: 0,
    variables: ['FACILITATOR_URL', 'X402_FACILITATOR_URL'],
    networks: [],
    format: 'text',
    output: null,
    failOn: null,
  });
});

test('pay-test encodes what a request line cannot hold', () => {
  const { routes } = parsePayTest([SELLER, '--route', 'GET /天气/zürich?a=%20é']);
  expect(routes).toMatchObject([{ path: '/%E5%A4%A9%E6%B0%94/z%C3%BCrich?a=%20%C3%A9' }]);
});

test('pay-test accepts all flags in one command', () => {
  const flags = [
    ['--route', 'post /a?b=c', '--route', '/d', '--failing-route', 'GET /e', '--body', '{"f":1}'],
    ['--only', 't1, T14', '--facilitator-port', '65535', '--facilitator-env', 'MY_URL'],
    ['--network', 'eip155:7', '--network', 'base', '--fail-on', 'warn', '--format', 'junit'],
  ].flat();
  const body = '{"f":1}';
  expect(parsePayTest([SELLER, ...flags])).toMatchObject({
    routes: [
      { method: 'POST', path: '/a?b=c', body },
      { method: 'GET', path: '/d', body },
    ],
    failingRoute: { method: 'GET', path: '/e', body },
    only: ['T1', 'T14'],
    facilitatorPort: 65_535,
    variables: ['FACILITATOR_URL', 'X402_FACILITATOR_URL', 'MY_URL'],
    networks: ['eip155:7', 'base'],
    failOn: 'warn',
    format: 'junit',
  });
});

test.each([
  [[], 'give the address of your seller'],
  [[SELLER, 'http://127.0.0.1:3001'], 'give the address of your seller'],
  [['--route', 'weather'], 'give method and path'],
  [['--route', '//evil.example/'], 'give method and path'],
  [['--route', 'GET http://evil.example/'], 'give method and path'],
  [['--only', 'T19'], 'there are T1, T2'],
  [['--facilitator-port', '65536'], 'give a port'],
  [['--facilitator-port', '-1'], 'pay-test -- --help'],
  [['--facilitator-env', 'A=B'], 'give the name of a variable'],
  [['--network', 'solana:abc'], 'give a network such as eip155:8453'],
  [['--format', 'yaml'], 'is not one of text, json'],
  [['--fail-on', 'pass'], 'is not one of fail, warn'],
  [['--loud'], 'lists the flags'],
])('pay-test refuses %j', (args, words) => {
  const addressArgs = args[0]?.startsWith('--') ? [SELLER] : [];
  expect(() => parsePayTest([...addressArgs, ...args])).toThrow(words);
});
