import { describe, expect, test } from 'vitest';
import { createSystemResolver, type Resolver } from '../../../src/scanner/guard/name-servers.ts';
import { DEFAULT_POLICY, parseOrigin } from '../../../src/scanner/guard/origin.ts';
import { resolveHost } from '../../../src/scanner/guard/resolve.ts';

const NO_RECORDS = dnsError('ENODATA');
const seller = parseOrigin('https://seller.example.com');

describe('answers of name servers', () => {
  test('IPv6 comes before IPv4', async () => {
    const resolution = await resolveWith({ v4: ['1.1.1.1'], v6: ['2606:4700:4700::1111'] });
    expect(resolution).toEqual({
      kind: 'addresses',
      addresses: [
        { address: '2606:4700:4700::1111', family: 6 },
        { address: '1.1.1.1', family: 4 },
      ],
    });
  });

  test('addresses of one family are enough, even if the look-up of the other fails', async () => {
    const resolution = await resolveWith({ v4: ['1.1.1.1'], v6: dnsError('ETIMEOUT') });
    expect(resolution.kind).toBe('addresses');
  });

  test('a blocked address blocks the host, and the reason names the address block', async () => {
    const resolution = await resolveWith({ v4: ['1.1.1.1', '10.0.0.1'], v6: NO_RECORDS });
    expect(resolution).toEqual({
      kind: 'blocked',
      reason: 'Private-Use (RFC1918)',
    });
  });

  test('16 addresses are accepted, and 17 addresses are refused', async () => {
    const createAddresses = (count: number) =>
      Array.from({ length: count }, (_, index) => `1.1.1.${index}`);
    expect((await resolveWith({ v4: createAddresses(16), v6: NO_RECORDS })).kind).toBe('addresses');
    expect(
      await resolveWith({ v4: createAddresses(16), v6: ['2606:4700:4700::1111'] }),
    ).toMatchObject({
      kind: 'blocked',
      reason: '17 addresses, at most 16 are accepted',
    });
  });
});

describe('errors of name servers', () => {
  test.each([
    ['ENOTFOUND', 'ENOTFOUND', 'unreachable'],
    ['ENODATA', 'ENODATA', 'unreachable'],
    ['ETIMEOUT', 'ETIMEOUT', 'unreachable'],
    ['ESERVFAIL', 'ENODATA', 'unreachable'],
    ['ENOTFOUND', 'ECONNREFUSED', 'unreachable'],
    ['ECONNREFUSED', 'ECONNREFUSED', 'our-fault'],
    ['ENODATA', 'ECONNREFUSED', 'our-fault'],
    ['ECANCELLED', 'ETIMEOUT', 'our-fault'],
  ])('%s for IPv4 and %s for IPv6: %s', async (v4, v6, kind) => {
    const resolution = await resolveWith({ v4: dnsError(v4), v6: dnsError(v6) });
    expect(resolution.kind).toBe(kind);
  });
});

test('an early fault of our resolver is not told as a fact about the name', async () => {
  const resolve6 = (_hostname: string, tryNumber = 0) =>
    Promise.reject(dnsError(tryNumber === 0 ? 'ECONNREFUSED' : 'ENODATA'));
  const resolver = { ...noResolver(), resolve6, resolve4: () => Promise.reject(NO_RECORDS) };
  expect(await resolveHost(seller, DEFAULT_POLICY, resolver)).toEqual({
    kind: 'unreachable',
    detail: 'the name has no address records (ENODATA)',
  });
});

describe('a host name', () => {
  test('that is an IP literal resolves to itself', async () => {
    const literal = parseOrigin('https://[2606:4700:4700::1111]');
    const resolution = await resolveHost(literal, DEFAULT_POLICY, noResolver());
    expect(resolution).toEqual({
      kind: 'addresses',
      addresses: [{ address: '2606:4700:4700::1111', family: 6 }],
    });
  });

  test('that is a blocked IP literal is blocked, even if the caller did not validate it', async () => {
    const literal = { ...parseOrigin('https://1.1.1.1'), hostname: '127.0.0.1' };
    expect((await resolveHost(literal, DEFAULT_POLICY, noResolver())).kind).toBe('blocked');
  });

  test('that SCAN_ALLOW_HOSTS allows is looked up by the system, and may be loopback', async () => {
    const policy = { ...DEFAULT_POLICY, allowHosts: new Set(['localhost:3000']) };
    const origin = parseOrigin('http://localhost:3000', policy);
    const resolution = await resolveHost(origin, policy, createSystemResolver());
    expect(resolution.kind === 'addresses' && resolution.addresses.length).toBeGreaterThan(0);
  });

  test('that SCAN_ALLOW_HOSTS allows is unreachable if it has no address', async () => {
    const policy = { ...DEFAULT_POLICY, allowHosts: new Set(['gone:3000']) };
    const resolver = { ...noResolver(), lookup: () => Promise.reject(dnsError('ENOTFOUND')) };
    const origin = parseOrigin('http://gone:3000', policy);
    expect((await resolveHost(origin, policy, resolver)).kind).toBe('unreachable');
  });
});

function resolveWith({ v4, v6 }: { v4: string[] | Error; v6: string[] | Error }) {
  const answer = (value: string[] | Error) =>
    value instanceof Error ? Promise.reject(value) : Promise.resolve(value);
  const resolver: Resolver = {
    ...noResolver(),
    resolve4: () => answer(v4),
    resolve6: () => answer(v6),
  };
  return resolveHost(seller, DEFAULT_POLICY, resolver);
}

function noResolver(): Resolver {
  const refuse = () => Promise.reject(new Error('a name server was asked'));
  return { resolve4: refuse, resolve6: refuse, lookup: refuse };
}

function dnsError(code: string): Error {
  return Object.assign(new Error(code), { code });
}
