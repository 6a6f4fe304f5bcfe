/** Real questions to name servers on this machine. */
import { expect, test } from 'vitest';
import { createSystemResolver } from '../../../src/scanner/guard/name-servers.ts';
import { DEFAULT_POLICY, parseOrigin } from '../../../src/scanner/guard/origin.ts';
import { resolveHost } from '../../../src/scanner/guard/resolve.ts';
import {
  findRefusingServer,
  type NameAnswer,
  type Query,
  startNameServer,
} from '../../fixtures/dns/name-server.ts';

const TIMEOUT_MS = 60_000;
const seller = parseOrigin('https://seller.example.com');
const FOUND = { kind: 'addresses', addresses: [{ address: '93.184.215.14', family: 4 }] };
const ADDRESS = ['93.184.215.14'];

/** Answers for top-level domains, and for the seller as `answer` says. */
const withTld =
  (answer: (query: Query) => NameAnswer) =>
  (query: Query): NameAnswer =>
    query.type === 'NS' ? ['a.gtld-servers.net'] : answer(query);
const onlyIPv4 = ({ type }: Query): NameAnswer => (type === 'A' ? ADDRESS : []);

async function resolveWith(script: (query: Query) => NameAnswer, maxTries?: number) {
  await using server = await startNameServer(script);
  const resolver = createSystemResolver({ servers: [server.address] });
  const resolution = await resolveHost(seller, DEFAULT_POLICY, resolver, maxTries);
  const asked = server.queries.map(({ name, type }) => `${type} ${name}`);
  return { resolution, asked };
}

test('a name is asked for once if both questions are answered', async () => {
  const { resolution, asked } = await resolveWith(onlyIPv4);
  expect(resolution).toEqual(FOUND);
  expect(asked.toSorted()).toEqual(['A seller.example.com', 'AAAA seller.example.com']);
});

test(
  'one lost packet is not a finding: the question is asked again',
  async () => {
    const { resolution } = await resolveWith((query) =>
      query.type === 'A' && query.number === 1 ? 'silent' : onlyIPv4(query),
    );
    expect(resolution).toEqual(FOUND);
  },
  TIMEOUT_MS,
);

test.each(['SERVFAIL', 'REFUSED'] as const)(
  '%s twice is not a finding: the third question counts',
  async (failure) => {
    const { resolution, asked } = await resolveWith((query) =>
      query.number < 3 ? failure : onlyIPv4(query),
    );
    expect(resolution).toEqual(FOUND);
    expect(asked).toHaveLength(6);
  },
);

test('SERVFAIL three times is a finding if a top-level domain is answered', async () => {
  const { resolution, asked } = await resolveWith(withTld(() => 'SERVFAIL'));
  expect(resolution).toEqual({
    kind: 'unreachable',
    detail: 'its name servers failed (ESERVFAIL)',
  });
  expect(asked.filter((query) => query.startsWith('A '))).toHaveLength(3);
  expect(asked.at(-1)).toBe('NS com');
});

test(
  'silence for the name alone is a finding, after three questions',
  async () => {
    const { resolution, asked } = await resolveWith(withTld(() => 'silent'));
    expect(resolution).toEqual({
      kind: 'unreachable',
      detail: 'its name servers did not answer in time (ETIMEOUT)',
    });
    expect(asked.filter((query) => query.startsWith('A '))).toHaveLength(3);
  },
  TIMEOUT_MS,
);

test.each(['silent', 'SERVFAIL'] as const)(
  '%s for every name is our fault',
  async (answer) => {
    const { resolution } = await resolveWith(() => answer);
    expect(resolution).toMatchObject({ kind: 'our-fault' });
  },
  TIMEOUT_MS,
);

test('free work asks once', async () => {
  const { resolution, asked } = await resolveWith(
    withTld(() => 'SERVFAIL'),
    1,
  );
  expect(resolution.kind).toBe('unreachable');
  expect(asked.toSorted()).toEqual(['A seller.example.com', 'AAAA seller.example.com', 'NS com']);
});

test.each([
  ['NXDOMAIN', 'the name does not exist (ENOTFOUND)'],
  [[], 'the name has no address records (ENODATA)'],
] as const)('the answer %j is a finding, and is not asked for again', async (answer, detail) => {
  const { resolution, asked } = await resolveWith(() => answer);
  expect(resolution).toEqual({ kind: 'unreachable', detail });
  expect(asked).toHaveLength(2);
});

test('a name server that refuses connections is our fault', async () => {
  const resolver = createSystemResolver({ servers: [await findRefusingServer()] });
  expect(await resolveHost(seller, DEFAULT_POLICY, resolver)).toEqual({
    kind: 'our-fault',
    detail: 'the resolver of this machine failed (ECONNREFUSED)',
  });
});

test('the next name server is asked if the first refuses connections', async () => {
  await using server = await startNameServer(onlyIPv4);
  const servers = [await findRefusingServer(), server.address];
  const resolver = createSystemResolver({ servers });
  expect(await resolveHost(seller, DEFAULT_POLICY, resolver)).toEqual(FOUND);
});

test('the answer for a top-level domain is kept for 10 s', async () => {
  let nowMs = 0;
  await using server = await startNameServer(withTld(() => 'SERVFAIL'));
  const resolver = createSystemResolver({ servers: [server.address], now: () => nowMs });
  const countTldQueries = () => server.queries.filter(({ type }) => type === 'NS').length;
  await resolveHost(seller, DEFAULT_POLICY, resolver);
  nowMs = 9_999;
  await resolveHost(seller, DEFAULT_POLICY, resolver);
  expect(countTldQueries()).toBe(1);
  nowMs = 10_000;
  await resolveHost(seller, DEFAULT_POLICY, resolver);
  expect(countTldQueries()).toBe(2);
});
