import { isIP } from 'node:net';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isBlockedAddress } from '../../../src/scanner/guard/address.ts';
import { OriginRefused, type RefusalReason } from '../../../src/scanner/guard/failures.ts';
import {
  DEFAULT_POLICY,
  type OriginPolicy,
  parseOrigin,
} from '../../../src/scanner/guard/origin.ts';

const allowPorts = (...allowedPorts: number[]): OriginPolicy => ({
  ...DEFAULT_POLICY,
  allowedPorts,
});
const withAllowedHosts = (...hosts: string[]): OriginPolicy => ({
  ...DEFAULT_POLICY,
  allowHosts: new Set(hosts),
});

describe('an accepted origin', () => {
  test.each([
    ['https://Example.COM/v1/pay?x=1#y', 'https://example.com'],
    ['example.com', 'https://example.com'],
    ['example.com/path?q=https://other.com', 'https://example.com'],
    ['example.com:443', 'https://example.com'],
    ['https://example.com./', 'https://example.com'],
    ['münchen.de', 'https://xn--mnchen-3ya.de'],
    ['[2606:4700:4700:0::1111]', 'https://[2606:4700:4700::1111]'],
    ['1.1.1.1', 'https://1.1.1.1'],
  ])('%s', (input, url) => {
    expect(parseOrigin(input).url).toBe(url);
  });

  test('that is a plain name gives the same result without the URL parser as with it', () => {
    const label = fc.oneof(
      fc.stringMatching(/^[a-z0-9-]{1,64}$/),
      fc.constantFrom('xn--mnchen-3ya', 'xn--a', 'xn--', 'com', 'local', '0x7f', '127', '1e3', 'a'),
    );
    const parseOutcome = (input: string, policy: OriginPolicy) => {
      try {
        return parseOrigin(input, policy);
      } catch (error) {
        return error instanceof OriginRefused ? error.reason : error;
      }
    };
    const policies = [
      DEFAULT_POLICY,
      allowPorts(8443),
      withAllowedHosts('a.com:443', 'shop.local:443'),
    ];
    fc.assert(
      fc.property(
        fc.array(label, { minLength: 1, maxLength: 5 }),
        fc.constantFrom('', 'https://'),
        fc.constantFrom('', '/'),
        fc.constantFrom(...policies),
        (labels, scheme, slash, policy) => {
          const host = labels.join('.');
          // With a query the text is not a plain name, so parseOrigin uses the URL parser, and then drops the query.
          const parsed = parseOutcome(`https://${host}/?`, policy);
          expect(parseOutcome(`${scheme}${host}${slash}`, policy)).toEqual(parsed);
        },
      ),
      { numRuns: 2_000 },
    );
  });

  test('that is an IPv6 literal has brackets in the URL and host, and none in the hostname', () => {
    expect(parseOrigin('https://[2606:4700:4700::1111]/')).toEqual({
      url: 'https://[2606:4700:4700::1111]',
      scheme: 'https',
      hostname: '2606:4700:4700::1111',
      port: 443,
      host: '[2606:4700:4700::1111]',
    });
  });

  test('on another port that the policy allows has this port in host and URL', () => {
    const origin = parseOrigin('https://example.com:8443/x', allowPorts(443, 8443));
    expect(origin).toMatchObject({ host: 'example.com:8443', port: 8443 });
    expect(origin.url).toBe('https://example.com:8443');
  });
});

describe('a refused origin has a message with the remedy', () => {
  const cases: [string, RefusalReason, RegExp][] = [
    [' example.com', 'control_space_or_backslash', /remove it/],
    ['user@example.com', 'userinfo', /only the host/],
    ['http://example.com', 'scheme_or_form', /https URL/],
    ['javascript:alert(1)', 'scheme_or_form', /https URL/],
    ['https://https://example.com', 'single_label', /single label/],
    ['example.com:8443', 'port', /port 443/],
    ['127.0.0.1', 'blocked_ip', /public/],
    ['localhost', 'special_use_name', /special-use/],
    ['https://0x7f.1', 'blocked_ip', /public/],
    ['', 'scheme_or_form', /https URL/],
  ];
  test.each(cases)('%j', (input, reason, message) => {
    expect(() => parseOrigin(input)).toThrow(
      expect.objectContaining({
        name: 'OriginRefused',
        reason,
        message: expect.stringMatching(message),
      }),
    );
  });

  test("on a port outside the policy: the message lists the policy's ports", () => {
    expect(() => parseOrigin('https://example.com:81', allowPorts(443, 8443))).toThrow(
      /port 443, 8443/,
    );
  });

  test('is accepted with 2,048 characters, and refused with one more', () => {
    const urlOfLength = (length: number) => 'https://example.com/'.padEnd(length, 'a');
    expect(parseOrigin(urlOfLength(2_048)).host).toBe('example.com');
    expect(() => parseOrigin(urlOfLength(2_049))).toThrow(/2048/);
  });

  test('is accepted with a label of 63 characters, and refused with one more', () => {
    expect(parseOrigin(`${'a'.repeat(63)}.com`).hostname).toHaveLength(67);
    expect(() => parseOrigin(`${'a'.repeat(64)}.com`)).toThrow(/63 characters/);
  });
});

describe('exceptions of the policy', () => {
  test('may be http, loopback, single-label and on any port', () => {
    const policy = withAllowedHosts('127.0.0.1:3000', 'seller:80', '[::1]:8443');
    expect(parseOrigin('http://127.0.0.1:3000/x', policy)).toMatchObject({
      url: 'http://127.0.0.1:3000',
      scheme: 'http',
      host: '127.0.0.1:3000',
    });
    expect(parseOrigin('http://seller', policy)).toMatchObject({ host: 'seller', port: 80 });
    expect(parseOrigin('https://[::1]:8443', policy).hostname).toBe('::1');
  });

  test('are exact, so another port or host is refused as usual', () => {
    const policy = withAllowedHosts('127.0.0.1:3000');
    for (const input of ['http://127.0.0.1:3001', 'http://127.0.0.2:3000', 'https://127.0.0.1']) {
      expect(() => parseOrigin(input, policy)).toThrow(OriginRefused);
    }
  });

  test('have https as the default of a bare host', () => {
    expect(parseOrigin('127.0.0.1:3000', withAllowedHosts('127.0.0.1:3000')).scheme).toBe('https');
  });

  test('do not allow user information', () => {
    const policy = withAllowedHosts('127.0.0.1:3000');
    expect(() => parseOrigin('http://x@127.0.0.1:3000', policy)).toThrow(OriginRefused);
  });
});

describe('for any input', () => {
  const address = fc.oneof(
    fc.ipV4(),
    fc.ipV6(),
    fc.nat({ max: 0xffffffff }).map((n) => `0x${n.toString(16)}`),
    fc.nat({ max: 0xffffffff }).map(String),
  );
  const bracketed = address.map((ip) => (isIP(ip) === 6 ? `[${ip}]` : ip));
  const input = fc.oneof(
    fc.string({ unit: 'grapheme' }),
    fc.domain(),
    fc.webUrl({ validSchemes: ['https', 'http'], withQueryParameters: true }),
    bracketed,
    bracketed.map((host) => `https://${host}/`),
  );

  test('parsing the result again changes nothing, and the host is canonical', () => {
    fc.assert(
      fc.property(input, (text) => {
        const origin = parse(text);
        if (!origin) return;
        expect(parseOrigin(origin.url)).toEqual(origin);
        expect(parseOrigin(origin.host)).toEqual(origin);
        expect(origin.host).toBe(new URL(origin.url).host);
        expect(origin.host).toMatch(/^[a-z0-9.:[\]-]+$/);
      }),
      { numRuns: 2_000 },
    );
  });

  test('no blocked address is accepted in any spelling', () => {
    fc.assert(
      fc.property(bracketed, fc.constantFrom('https://', ''), (host, scheme) => {
        const origin = parse(`${scheme}${host}`);
        if (!origin) return;
        expect(isIP(origin.hostname)).not.toBe(0);
        expect(isBlockedAddress(origin.hostname)).toBe(false);
      }),
      { numRuns: 2_000 },
    );
  });

  test('every refusal is an OriginRefused', () => {
    fc.assert(
      fc.property(fc.anything(), (value) => {
        // Callers pass unchecked members of request bodies.
        expect(() => parse(value as string)).not.toThrow();
      }),
    );
  });
});

function parse(text: string) {
  try {
    return parseOrigin(text);
  } catch (error) {
    if (error instanceof OriginRefused) return null;
    throw error;
  }
}
