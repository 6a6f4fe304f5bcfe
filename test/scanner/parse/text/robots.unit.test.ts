import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { matchesPattern, parseRobots } from '../../../../src/scanner/parse/text/robots.ts';
import { expectLinear, repeat } from '../../../fixtures/cpu-cost.ts';

const MAX_BYTES = 512 * 1024;

function parseLines(...lines: readonly string[]) {
  return parseRobots(lines.join('\n'));
}

describe('parseRobots', () => {
  test('allows all paths if the file has no rules', () => {
    expect(parseRobots('').allows('GPTBot', '/x')).toBe(true);
    expect(parseLines('Disallow: /').allows('GPTBot', '/x')).toBe(true);
    expect(parseLines('User-agent: *', 'Disallow:').allows('GPTBot', '/x')).toBe(true);
  });

  test('finds agents by their product token, in any case', () => {
    const facts = parseLines('USER-AGENT: gptBOT/1.1 (+https://x)', 'DISALLOW: /private');
    expect(facts.allows('GPTBot', '/private/x')).toBe(false);
    expect(facts.allows('GPTBot', '/public')).toBe(true);
    expect(facts.allows('GPT', '/private/x')).toBe(true);
    expect(facts.agents).toEqual(['gptbot']);
  });

  test('lets an agent with its own group ignore the group of all others', () => {
    const facts = parseLines(
      'User-agent: *',
      'Disallow: /',
      '',
      'User-agent: Claude-User',
      'Allow: /a',
    );
    expect(facts.allows('Claude-User', '/b')).toBe(true);
    expect(facts.allows('GPTBot', '/b')).toBe(false);
  });

  test('reads an empty group as a group that allows all', () => {
    const facts = parseLines('User-agent: *', 'Disallow: /', 'User-agent: GPTBot');
    expect(facts.allows('GPTBot', '/b')).toBe(true);
  });

  test('merges several groups of one agent, and shares a group among its agents', () => {
    const facts = parseLines(
      ...['User-agent: A', 'User-agent: B', 'Disallow: /both', ''],
      ...['User-agent: A', 'Disallow: /second'],
    );
    expect(facts.allows('A', '/both')).toBe(false);
    expect(facts.allows('A', '/second')).toBe(false);
    expect(facts.allows('B', '/both')).toBe(false);
    expect(facts.allows('B', '/second')).toBe(true);
  });

  test('ends no group at lines that are not rules', () => {
    const facts = parseLines(
      ...['User-agent: A', 'Sitemap: https://x/sitemap.xml', '', '# comment', 'User-agent: B'],
      ...['Crawl-delay: 10', 'Disallow: /x'],
    );
    expect(facts.allows('A', '/x')).toBe(false);
    expect(facts.allows('B', '/x')).toBe(false);
  });

  test('follows the rule with the longest match, and allows on a tie', () => {
    const facts = parseLines('User-agent: *', 'Disallow: /', 'Allow: /open', 'Disallow: /open/not');
    expect(facts.allows('X', '/openapi.json')).toBe(true);
    expect(facts.allows('X', '/open/not/this')).toBe(false);
    expect(facts.allows('X', '/else')).toBe(false);
    const tiedFacts = parseLines('User-agent: *', 'Disallow: /a', 'Allow: /a');
    expect(tiedFacts.allows('X', '/a')).toBe(true);
  });

  test('always allows the fetch of robots.txt itself', () => {
    expect(parseLines('User-agent: *', 'Disallow: /').allows('X', '/robots.txt')).toBe(true);
  });

  test('reads any line end, comments behind rules, blanks and a byte order mark', () => {
    const facts = parseRobots('\uFEFF User-agent : * # all\r\n\tDisallow:/a#b\rDisallow: /c\n');
    expect(facts.allows('X', '/a')).toBe(false);
    expect(facts.allows('X', '/c')).toBe(false);
  });

  test.each([
    ['/%61bc', '/abc', true],
    ['/a%2fb', '/a%2Fb', true],
    ['/a%2Fb', '/a/b', false],
    ['/ü', '/%C3%BC', true],
    ['/%c3%bc', '/ü', true],
    ['/file%2A', '/file*', true],
    ['/cost%24', '/cost$', true],
    ['/x$', '/x', true],
    ['/x$', '/x$', false],
    ['/*.json$', '/openapi.json', true],
    ['/*.json$', '/openapi.json?x', false],
    ['/a*', '/abc', true],
    ['*', '/', true],
    ['a', '/a', false],
  ])('the pattern %s matches the path %s: %s', (pattern, path, matches) => {
    const facts = parseLines('User-agent: *', `Disallow: ${pattern}`);
    expect(facts.allows('X', path)).toBe(!matches);
  });

  test('accepts names that JavaScript reserves', () => {
    const facts = parseLines('User-agent: __proto__', 'Disallow: /', 'User-agent: constructor');
    expect(facts.allows('toString', '/')).toBe(true);
    expect(facts.allows('__proto__', '/x')).toBe(false);
  });

  test('agrees with a reader that tries every rule', () => {
    const agent = fc.constantFrom('a', 'b', '*');
    const path = fc.constantFrom('/', '/x', '/x/y', '/xy', '/y*', '/*y', '/x*y$', '/x$', '');
    const rule = fc.record({ allow: fc.boolean(), pattern: path });
    const group = fc.record({
      agents: fc.array(agent, { minLength: 1, maxLength: 2 }),
      rules: fc.array(rule, { maxLength: 4 }),
    });
    const noise = fc.constantFrom('', '# note', 'Sitemap: /s', 'Crawl-delay: 1', 'nonsense');
    fc.assert(
      fc.property(
        fc.array(group, { maxLength: 4 }),
        noise,
        path,
        agent,
        (groups, noiseLine, requestedPath, requestingAgent) => {
          // A group without rules would merge with the next group.
          const groupsWithRules = groups.filter(({ rules }) => rules.length > 0);
          const text = groupsWithRules
            .map(({ agents, rules }) =>
              [
                ...agents.map((name) => `User-Agent: ${name.toUpperCase()}`),
                noiseLine,
                ...rules.map(({ allow, pattern }) => `${allow ? 'Allow' : 'disallow'}: ${pattern}`),
              ].join('\n'),
            )
            .join(`\n${noiseLine}\n`);
          const ownGroups = groupsWithRules.filter(({ agents }) =>
            agents.includes(requestingAgent),
          );
          const applyingGroups =
            ownGroups.length > 0
              ? ownGroups
              : groupsWithRules.filter(({ agents }) => agents.includes('*'));
          const escapedPath = requestedPath.replaceAll('*', '%2A').replaceAll('$', '%24');
          const matchingRules = applyingGroups
            .flatMap(({ rules }) => rules)
            .filter(({ pattern }) => pattern !== '' && naiveMatch(pattern, escapedPath));
          const longest = Math.max(...matchingRules.map(({ pattern }) => pattern.length));
          const longestRules = matchingRules.filter(({ pattern }) => pattern.length === longest);
          const allowed = longestRules.length === 0 || longestRules.some(({ allow }) => allow);
          expect(parseRobots(text).allows(requestingAgent, requestedPath)).toBe(allowed);
        },
      ),
      { numRuns: 1_000 },
    );
  });

  test.each([
    ['agents without rules', repeat('User-agent: x\n')],
    ['many rules', (length: number) => `User-agent: *\n${repeat('Disallow: /*a*\n')(length)}`],
    [
      'one pattern of wildcards',
      (length: number) => `User-agent: *\nDisallow: /${repeat('*a')(length)}b`,
    ],
    [
      'one pattern of one letter',
      (length: number) => `User-agent: *\nDisallow: /*${repeat('a')(length)}$`,
    ],
    ['line ends', repeat('\n')],
    ['colons', repeat(':')],
    ['percent signs', (length: number) => `User-agent: *\nDisallow: /${repeat('%')(length)}`],
    ['many agents that share many rules', createSharedGroup],
  ])('takes time in proportion to the length of the file: %s', (_file, createFile) => {
    const path = `/${'a'.repeat(200)}`;
    expectLinear(createFile, MAX_BYTES, (text) => {
      const facts = parseRobots(text);
      for (const agent of ['x', 'GPTBot', '*']) facts.allows(agent, path);
    });
  });
});

describe('matchesPattern', () => {
  test('agrees with a matcher that tries every position', () => {
    const text = (letters: string) =>
      fc.string({ unit: fc.constantFrom(...letters), maxLength: 8 });
    fc.assert(
      fc.property(text('ab*$'), text('ab'), (pattern, path) => {
        expect(matchesPattern(pattern, path)).toBe(naiveMatch(pattern, path));
      }),
      { numRuns: 5_000 },
    );
  });
});

/** Tells whether the path starts with the pattern. `*` matches any text, and a final `$` matches the end. */
function naiveMatch(pattern: string, path: string): boolean {
  if (pattern === '') return true;
  if (pattern === '$') return path === '';
  const [firstChar = '', ...otherChars] = pattern;
  const remainder = otherChars.join('');
  if (firstChar !== '*') return path.startsWith(firstChar) && naiveMatch(remainder, path.slice(1));
  return naiveMatch(remainder, path) || (path !== '' && naiveMatch(pattern, path.slice(1)));
}

function createSharedGroup(length: number): string {
  const half = Math.ceil(length / 2);
  const agents = Array.from({ length: half / 20 }, (_, index) => `User-agent: agent${index}`);
  const rules = Array.from({ length: half / 20 }, (_, index) => `Disallow: /a/*/b${index}`);
  return [...agents, ...rules].join('\n').padEnd(length, '#');
}
