import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { matchesPattern, parseRobots } from '../../../src/parse/text/robots.ts';
import { expectLinear, repeat } from '../../fixtures/cpu-cost.ts';

const MAX_BYTES = 512 * 1024;

function robots(...lines: readonly string[]) {
  return parseRobots(lines.join('\n'));
}

describe('parseRobots', () => {
  it('allows all paths if the file has no rules', () => {
    expect(parseRobots('').allows('GPTBot', '/x')).toBe(true);
    expect(robots('Disallow: /').allows('GPTBot', '/x')).toBe(true);
    expect(robots('User-agent: *', 'Disallow:').allows('GPTBot', '/x')).toBe(true);
  });

  it('finds agents by their product token, in any case', () => {
    const facts = robots('USER-AGENT: gptBOT/1.1 (+https://x)', 'DISALLOW: /private');
    expect(facts.allows('GPTBot', '/private/x')).toBe(false);
    expect(facts.allows('GPTBot', '/public')).toBe(true);
    expect(facts.allows('GPT', '/private/x')).toBe(true);
    expect(facts.agents).toEqual(['gptbot']);
  });

  it('lets an agent with its own group ignore the group of all others', () => {
    const facts = robots(
      'User-agent: *',
      'Disallow: /',
      '',
      'User-agent: Claude-User',
      'Allow: /a',
    );
    expect(facts.allows('Claude-User', '/b')).toBe(true);
    expect(facts.allows('GPTBot', '/b')).toBe(false);
  });

  it('reads an empty group as a group that allows all', () => {
    const facts = robots('User-agent: *', 'Disallow: /', 'User-agent: GPTBot');
    expect(facts.allows('GPTBot', '/b')).toBe(true);
  });

  it('merges several groups of one agent, and shares a group among its agents', () => {
    const facts = robots(
      ...['User-agent: A', 'User-agent: B', 'Disallow: /both', ''],
      ...['User-agent: A', 'Disallow: /second'],
    );
    expect(facts.allows('A', '/both')).toBe(false);
    expect(facts.allows('A', '/second')).toBe(false);
    expect(facts.allows('B', '/both')).toBe(false);
    expect(facts.allows('B', '/second')).toBe(true);
  });

  it('ends no group at lines that are not rules', () => {
    const facts = robots(
      ...['User-agent: A', 'Sitemap: https://x/sitemap.xml', '', '# comment', 'User-agent: B'],
      ...['Crawl-delay: 10', 'Disallow: /x'],
    );
    expect(facts.allows('A', '/x')).toBe(false);
    expect(facts.allows('B', '/x')).toBe(false);
  });

  it('follows the rule with the longest match, and allows on a tie', () => {
    const facts = robots('User-agent: *', 'Disallow: /', 'Allow: /open', 'Disallow: /open/not');
    expect(facts.allows('X', '/openapi.json')).toBe(true);
    expect(facts.allows('X', '/open/not/this')).toBe(false);
    expect(facts.allows('X', '/else')).toBe(false);
    const tie = robots('User-agent: *', 'Disallow: /a', 'Allow: /a');
    expect(tie.allows('X', '/a')).toBe(true);
  });

  it('always allows the fetch of robots.txt itself', () => {
    expect(robots('User-agent: *', 'Disallow: /').allows('X', '/robots.txt')).toBe(true);
  });

  it('reads any line end, comments behind rules, blanks and a byte order mark', () => {
    const facts = parseRobots('\uFEFF User-agent : * # all\r\n\tDisallow:/a#b\rDisallow: /c\n');
    expect(facts.allows('X', '/a')).toBe(false);
    expect(facts.allows('X', '/c')).toBe(false);
  });

  it.each([
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
  ])('tests %s against %s', (pattern, path, matches) => {
    const facts = robots('User-agent: *', `Disallow: ${pattern}`);
    expect(facts.allows('X', path)).toBe(!matches);
  });

  it('accepts names that JavaScript reserves', () => {
    const facts = robots('User-agent: __proto__', 'Disallow: /', 'User-agent: constructor');
    expect(facts.allows('toString', '/')).toBe(true);
    expect(facts.allows('__proto__', '/x')).toBe(false);
  });

  it('agrees with a reader that tries every rule', () => {
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
        (groups, line, at, who) => {
          // A group without rules would merge with the next group.
          const written = groups.filter(({ rules }) => rules.length > 0);
          const text = written
            .map(({ agents, rules }) =>
              [
                ...agents.map((name) => `User-Agent: ${name.toUpperCase()}`),
                line,
                ...rules.map(({ allow, pattern }) => `${allow ? 'Allow' : 'disallow'}: ${pattern}`),
              ].join('\n'),
            )
            .join(`\n${line}\n`);
          const own = written.filter(({ agents }) => agents.includes(who));
          const chosen =
            own.length > 0 ? own : written.filter(({ agents }) => agents.includes('*'));
          const plain = at.replaceAll('*', '%2A').replaceAll('$', '%24');
          const hits = chosen
            .flatMap(({ rules }) => rules)
            .filter(({ pattern }) => pattern !== '' && naiveMatch(pattern, plain));
          const longest = Math.max(...hits.map(({ pattern }) => pattern.length));
          const best = hits.filter(({ pattern }) => pattern.length === longest);
          const allowed = best.length === 0 || best.some(({ allow }) => allow);
          expect(parseRobots(text).allows(who, at)).toBe(allowed);
        },
      ),
      { numRuns: 1_000 },
    );
  });

  it.each([
    ['agents without rules', repeat('User-agent: x\n')],
    [
      'rules without end',
      (length: number) => `User-agent: *\n${repeat('Disallow: /*a*\n')(length)}`,
    ],
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
    ['many agents that share many rules', sharedGroup],
  ])('takes time in proportion to the length of the file: %s', (_, make) => {
    const path = `/${'a'.repeat(200)}`;
    expectLinear(make, MAX_BYTES, (text) => {
      const facts = parseRobots(text);
      for (const agent of ['x', 'GPTBot', '*']) facts.allows(agent, path);
    });
  });
});

describe('matchesPattern', () => {
  it('agrees with a matcher that tries every position', () => {
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

/** `$` is special only at the end. A pattern matches if the path starts with it. */
function naiveMatch(pattern: string, path: string): boolean {
  if (pattern === '') return true;
  if (pattern === '$') return path === '';
  const [first = '', ...rest] = pattern;
  const left = rest.join('');
  if (first !== '*') return path.startsWith(first) && naiveMatch(left, path.slice(1));
  return naiveMatch(left, path) || (path !== '' && naiveMatch(pattern, path.slice(1)));
}

function sharedGroup(length: number): string {
  const half = Math.ceil(length / 2);
  const agents = Array.from({ length: half / 20 }, (_, index) => `User-agent: agent${index}`);
  const rules = Array.from({ length: half / 20 }, (_, index) => `Disallow: /a/*/b${index}`);
  return [...agents, ...rules].join('\n').padEnd(length, '#');
}
