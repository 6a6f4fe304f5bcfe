import { describe, expect, test } from 'vitest';
import { OriginRefused } from '../../../src/scanner/guard/failures.ts';
import {
  allowOrigin,
  DEFAULT_POLICY,
  parseAllowHosts,
  parseOrigin,
} from '../../../src/scanner/guard/origin.ts';

describe('parseAllowHosts', () => {
  test('returns each exact host:port in canonical form', () => {
    const list = 'LOCALHOST:3000, [0:0::1]:8443,,seller:80 ';
    expect([...parseAllowHosts(list)]).toEqual(['localhost:3000', '[::1]:8443', 'seller:80']);
    expect(parseAllowHosts('').size).toBe(0);
  });

  test.each([
    'localhost',
    'http://localhost:3000',
    'a:b',
    'a:65536',
    '*:80/x',
    'u@a:80',
    '*:80',
    'a:0',
  ])('refuses %j and names it', (entry) => {
    expect(() => parseAllowHosts(`ok:1,${entry}`)).toThrow(`"${entry}" is not an exact host:port`);
  });
});

describe('allowOrigin', () => {
  test('treats a host with a trailing dot as the same host', () => {
    const policy = allowOrigin('http://localhost.:3000', DEFAULT_POLICY);
    expect(parseOrigin('http://localhost:3000', policy).url).toBe('http://localhost:3000');
    expect(parseOrigin('http://localhost.:3000', policy).url).toBe('http://localhost:3000');
    expect(() => allowOrigin('http://localhost..:3000', DEFAULT_POLICY)).toThrow(OriginRefused);
    expect([...parseAllowHosts('localhost.:3000')]).toEqual(['localhost:3000']);
  });

  test.each(['http://127.0.0.1:3000/x', 'https://localhost', '[::1]:3000', 'http://10.0.0.1'])(
    'returns a policy that allows only %s',
    (input) => {
      const policy = allowOrigin(input, DEFAULT_POLICY);
      expect(parseOrigin(input, policy).url).toBeTruthy();
      expect(() => parseOrigin('http://127.0.0.1:9', policy)).toThrow(OriginRefused);
      expect(DEFAULT_POLICY.allowHosts.size).toBe(0);
    },
  );

  test.each(['http://u@127.0.0.1', 'ftp://127.0.0.1', 'http://127.0.0.1:99999', 'a b', ''])(
    'refuses %j',
    (input) => {
      expect(() => allowOrigin(input, DEFAULT_POLICY)).toThrow(OriginRefused);
    },
  );
});
