import { describe, expect, test } from 'vitest';
import { FORMATS } from '../../../src/cli/formatters/formats.ts';
import { HOSTILE, printable, result } from '../printable.ts';
import { readXml, type XmlElement } from './read-xml.ts';

const readSuite = (xml: string): XmlElement => {
  const [suite] = readXml(xml).children;
  if (suite === undefined) throw new Error('no suite');
  return suite;
};
const readTestCases = (xml: string) =>
  readSuite(xml).children.filter(({ name }) => name === 'testcase');

describe('JUnit', () => {
  test('counts failed checks as failures, and undetermined checks as skipped', () => {
    const suites = readXml(FORMATS.junit(printable()));
    const counts = { tests: '5', failures: '2', skipped: '1' };
    expect(Object.fromEntries(suites.attributes)).toMatchObject(counts);
    expect(Object.fromEntries(suites.children[0]?.attributes ?? [])).toMatchObject({
      ...counts,
      name: 'https://api.example.com',
      timestamp: '2026-08-20T12:00:00.000Z',
    });
  });

  test('has one case for each check, with evidence and fix', () => {
    const cases = readTestCases(FORMATS.junit(printable())).map(
      ({ attributes, children: [child] }) => [
        attributes.get('name'),
        child?.name,
        child?.attributes.get('type'),
        child?.attributes.get('message') ?? child?.text,
      ],
    );
    expect(cases).toEqual([
      ['P1 check-p1', 'failure', 'refused', 'GET /: connection refused. Start the server.'],
      [
        'P2 check-p2',
        'failure',
        'prerequisite-failed',
        'Not evaluated, see P1: connection refused. Correct what P1 names.',
      ],
      ['S1 check-s1', undefined, undefined, undefined],
      ['S7 check-s7', 'system-out', undefined, 'no ">" line below "# A". Add a summary.'],
      [
        'D1 check-d1',
        'skipped',
        undefined,
        'x402scan was not asked: offline (0 requests). Register the origin.',
      ],
    ]);
  });

  test('has grade, score and payableBy as properties', () => {
    const [properties] = readSuite(FORMATS.junit(printable())).children;
    const pairs = properties?.children.map(({ attributes }) => [
      attributes.get('name'),
      attributes.get('value'),
    ]);
    expect(pairs).toEqual([
      ['grade', 'F'],
      ['score', '0'],
      ['payableBy', 'unknown'],
      ['answer', 'Not known: api.example.com refuses connections.'],
      ['checksVersion', '2026-08-14.2'],
    ]);
  });

  test.each(['fail', 'warn'] as const)(
    'stays well formed around the hostile evidence of a %s',
    (status) => {
      const [testCase] = readTestCases(
        FORMATS.junit(printable({ printed: [{ ...HOSTILE, status }] })),
      );
      const child = testCase?.children[0];
      const text = child?.attributes.get('message') ?? child?.text;
      expect(text).toBe(`${HOSTILE.evidence}. ${HOSTILE.fix}`);
    },
  );

  test('drops characters that XML cannot hold', () => {
    const evidence = 'a\u0000b\u001b[31mc\ud800d\uffffe';
    const [testCase] = readTestCases(
      FORMATS.junit(printable({ printed: [result('S1', { status: 'fail', evidence })] })),
    );
    expect(testCase?.children[0]?.attributes.get('message')).toBe('ab[31mcde. Keep S1 as it is.');
  });
});

test.each([
  '<a></b>',
  '<a>',
  '<a/><a/>',
  '<a b="1" b="2"/>',
  '<a b="<"/>',
  '<a>&nbsp;</a>',
  '<a>& b</a>',
  '<a>]]></a>',
  '<a>\u0001</a>',
])('the XML reader of these tests refuses %j', (xml) => {
  expect(() => readXml(`<?xml version="1.0" encoding="UTF-8"?>\n${xml}`)).toThrow();
});
