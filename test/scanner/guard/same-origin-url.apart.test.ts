import { describe, expect, test } from 'vitest';
import {
  DEFAULT_POLICY,
  parseOrigin,
  resolveReference,
  resolveSameOrigin,
} from '../../../src/scanner/guard/origin.ts';

const seller = parseOrigin('https://seller.example.com');

describe('resolveSameOrigin', () => {
  test.each([
    ['/openapi.json', 'https://seller.example.com/openapi.json'],
    ['docs/a?b=c', 'https://seller.example.com/docs/a?b=c'],
    ['https://SELLER.example.com:443/x', 'https://seller.example.com/x'],
    ['//seller.example.com/x', 'https://seller.example.com/x'],
    ['https://seller.example.com./x', 'https://seller.example.com/x'],
    ['', 'https://seller.example.com/'],
  ])('keeps %j', (candidate, href) => {
    expect(resolveSameOrigin(seller, candidate)?.href).toBe(href);
  });

  test.each([
    'http://seller.example.com/x',
    'https://seller.example.com:8443/x',
    'https://www.seller.example.com/',
    'https://example.com/',
    'https://user@seller.example.com/',
    'https://seller.example.com\\@127.0.0.1/',
    '/\\127.0.0.1/x',
    '\\\\127.0.0.1\\x',
    '//127.0.0.1/x',
    '/a b',
    'https://%73eller.example.com/',
    'mailto:a@seller.example.com',
    'javascript:alert(1)',
    'data:text/html,x',
    'blob:https://seller.example.com/1',
    'https://[',
    `/${'x'.repeat(3_000)}`,
  ])('drops %j', (candidate) => {
    expect(resolveSameOrigin(seller, candidate)).toBeNull();
  });

  test('resolves a relative link against the document that holds it', () => {
    const base = new URL('https://seller.example.com/docs/index.md');
    expect(resolveSameOrigin(seller, 'a.md', base)?.pathname).toBe('/docs/a.md');
  });

  test('keeps the http links of an allowed http origin, and drops its https links', () => {
    const policy = { ...DEFAULT_POLICY, allowHosts: new Set(['127.0.0.1:3000']) };
    const local = parseOrigin('http://127.0.0.1:3000', policy);
    expect(resolveSameOrigin(local, '/x')?.href).toBe('http://127.0.0.1:3000/x');
    expect(resolveSameOrigin(local, 'https://127.0.0.1:3000/x')).toBeNull();
  });
});

describe('resolveReference', () => {
  test('checks the host of a reference that names its own host', () => {
    const base = new URL('https://seller.example.com/a');
    expect(() => resolveReference('//user@other.com/', base, DEFAULT_POLICY)).toThrow(
      expect.objectContaining({ reason: 'userinfo' }),
    );
    expect(resolveReference('../b', base, DEFAULT_POLICY).href).toBe(
      'https://seller.example.com/b',
    );
  });
});
