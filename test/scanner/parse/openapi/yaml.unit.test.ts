/** YAML documents become JSON, within limits that no document can exceed at our cost. */
import { describe, expect, test } from 'vitest';
import {
  convertYaml,
  MAX_YAML_ALIASES,
  MAX_YAML_VALUES,
  readYamlLines,
} from '../../../../src/scanner/parse/openapi/yaml.ts';

/** A list of `count` values has `count` + 2 values: the map, the list and its items. */
const list = (count: number) => `a: [${Array(count).fill('0').join(',')}]`;

describe('convertYaml', () => {
  test.each([
    ['a: no\nb: 0x10\nc: ~', { a: 'no', b: 16, c: null }],
    ['responses: { 200: { description: ok } }', { responses: { '200': { description: 'ok' } } }],
    ['base: &b { x: 1 }\nown: { <<: *b, y: 2 }', { base: { x: 1 }, own: { x: 1, y: 2 } }],
    ['{"openapi": "3.1.0"}', { openapi: '3.1.0' }],
  ])('reads %j', (text, value) => {
    expect(convertYaml(text)).toEqual({ json: JSON.stringify(value) });
  });

  test('keeps a member whose name JavaScript reserves', () => {
    expect(convertYaml('__proto__: { x: 1 }')).toEqual({ json: '{"__proto__":{"x":1}}' });
  });

  test.each([
    ['a: 1\na: 2', 'YAML with two members "a" in one map, at line 2'],
    ['a:\n  - b\n c: d', 'not YAML at line 3: All mapping items must start at the same column'],
    ['- a', 'YAML, but not a map'],
    ['a text', 'YAML, but not a map'],
    ['? { a: 1 }\n: 2', 'YAML with a map or list as a name, at line 1'],
    ['a: 1\n---\nb: 2', 'not YAML at line 2: a second document'],
  ])('refuses %j, which is a fault of the document', (text, fault) => {
    expect(convertYaml(text)).toEqual({ fault, isOverLimit: false });
  });

  const laughs = Array.from({ length: 9 }, (_, i) =>
    i === 0
      ? 'a0: &a0 [ha, ha]'
      : `a${i}: &a${i} [${Array(9)
          .fill(`*a${i - 1}`)
          .join(', ')}]`,
  );
  test.each([
    ['as many values as the limit', list(MAX_YAML_VALUES - 2), null],
    ['one value more', list(MAX_YAML_VALUES - 1), 'over 20000 values'],
    ['aliases that multiply', laughs.join('\n'), 'over 20000 values'],
    ['as many aliases as the limit', withAliases(MAX_YAML_ALIASES), null],
    ['one alias more', withAliases(MAX_YAML_ALIASES + 1), 'over 100 aliases'],
    ['an alias within its own value', 'a: &a [*a]', 'deeper than 64'],
    ['64 levels', `a: ${'['.repeat(63)}${']'.repeat(63)}`, null],
    ['65 levels', `a: ${'['.repeat(64)}${']'.repeat(64)}`, 'deeper than 64'],
    ['brackets without end', `a: ${'['.repeat(200_000)}`, 'deeper than 64'],
    ['lists in one line', `a:\n  ${'- '.repeat(200_000)}b`, 'over 20000 values'],
  ])('measures %s before it spends time', (_, text, fault) => {
    const reading = convertYaml(text);
    if (fault === null) expect(reading).toHaveProperty('json');
    else expect(reading).toEqual({ fault, isOverLimit: true });
  });
});

function withAliases(count: number): string {
  return `a: &a 1\nb: [${Array(count).fill('*a').join(', ')}]`;
}

test('readYamlLines finds the line of a member, or of its nearest ancestor', () => {
  const findLine = readYamlLines('openapi: 3.1.0\npaths:\n  /a:\n    get:\n      tags: [x]\n');
  expect(findLine(['paths', '/a', 'get'])).toBe(4);
  expect(findLine(['paths', '/a', 'get', 'responses', '402'])).toBe(4);
  expect(findLine(['paths', '/b'])).toBe(2);
  expect(findLine(['info'])).toBe(1);
});
