import { expect, test } from 'vitest';
import { allowOrigin, DEFAULT_POLICY, parseOrigin } from '../../../src/scanner/guard/origin.ts';
import { findPartner } from '../../../src/scanner/indexes/create-standing.ts';

function isListed(origin: string, website: string): boolean {
  const policy = allowOrigin(origin, DEFAULT_POLICY);
  return findPartner(parseOrigin(origin, policy), [{ name: 'Partner', website }]).listed;
}

test.each([
  ['https://example.com', 'https://example.com'],
  ['https://api.example.com', 'https://www.example.com/x402'],
  ['https://example.com', 'http://docs.example.com/'],
  ['https://a.co.uk', 'https://www.a.co.uk'],
  ['https://mine.vercel.app', 'https://mine.vercel.app/'],
  ['http://127.0.0.1:4000', 'http://127.0.0.1:4000'],
  ['https://bücher.example.com', 'https://xn--bcher-kva.example.com'],
])('the origin %s belongs to the partner with the website %s', (origin, website) => {
  expect(isListed(origin, website)).toBe(true);
});

test.each([
  ['https://example.com', 'https://example.org'],
  ['https://example.com', 'https://notexample.com'],
  ['https://a.co.uk', 'https://b.co.uk'],
  ['https://mine.vercel.app', 'https://theirs.vercel.app'],
  ['https://mine.vercel.app', 'https://vercel.app'],
  ['https://mine.vercel.app', 'https://preview.mine.vercel.app'],
  ['https://mine.vercel.app', 'https://vercel.com'],
  ['http://127.0.0.1:4000', 'http://127.0.0.2:4000'],
  ['https://example.com', 'not a website'],
])('the origin %s does not belong to the partner with the website %s', (origin, website) => {
  expect(isListed(origin, website)).toBe(false);
});

test('the name and website come from the first partner with the same registrable domain', () => {
  const partners = [
    { name: 'Other', website: 'https://other.example' },
    { name: 'Partner', website: 'https://www.example.com' },
    { name: 'Later', website: 'https://example.com' },
  ];
  expect(findPartner(parseOrigin('https://api.example.com'), partners)).toEqual({
    listed: true,
    name: 'Partner',
    website: 'https://www.example.com',
  });
  expect(findPartner(parseOrigin('https://api.example.net'), partners)).toEqual({
    listed: false,
    name: null,
    website: null,
  });
});
