/**
 * Parses robots.txt by RFC 9309. The available package ends a group at a Sitemap line, which the RFC
 * forbids (2.2.4), and does not compare percent-encoded paths as it demands (2.2.2).
 */

const UNRESERVED = /^[A-Za-z0-9._~-]$/;

/**
 * `*` matches any characters, a final `$` the end of the path. Each piece is searched once, after the
 * previous one, and the first missing piece ends the search. Time is linear in the path, however many
 * pieces a pattern has, because it is matched for every agent and path.
 */
export function matchesPattern(pattern: string, path: string): boolean {
  const isAnchored = pattern.endsWith('$');
  const end = isAnchored ? pattern.length - 1 : pattern.length;
  let star = pattern.indexOf('*');
  const first = pattern.slice(0, star === -1 ? end : star);
  if (!path.startsWith(first)) return false;
  if (star === -1) return !isAnchored || path.length === first.length;

  let at = first.length;
  for (;;) {
    const next = pattern.indexOf('*', star + 1);
    if (next === -1) break;
    const piece = pattern.slice(star + 1, next);
    const index = path.indexOf(piece, at);
    if (index === -1) return false;
    at = index + piece.length;
    star = next;
  }
  const last = pattern.slice(star + 1, end);
  if (!isAnchored) return path.indexOf(last, at) !== -1;
  return path.length - last.length >= at && path.endsWith(last);
}

/**
 * Normalises equivalent spellings (RFC 9309, 2.2.2): unreserved characters plain, all others
 * percent-encoded UTF-8 in upper case. `*` and `$` keep their meaning.
 */
export function normalisePattern(pattern: string): string {
  return normalise(pattern);
}

/** A path's own `*` and `$` are literal: RFC 9309 has patterns spell them %2A and %24. */
export function normalisePath(path: string): string {
  return normalise(path).replaceAll('*', '%2A').replaceAll('$', '%24');
}

function normalise(text: string): string {
  return text
    .replace(/%[0-9a-fA-F]{2}/g, (code) => plainOrUpper(code))
    .replace(/[^\u0021-\u007e]/gu, (character) => encodeURIComponent(character.toWellFormed()));
}

function plainOrUpper(code: string): string {
  const character = String.fromCharCode(Number.parseInt(code.slice(1), 16));
  return UNRESERVED.test(character) ? character : code.toUpperCase();
}

export type RobotsFacts = {
  /** Returns true when `agent` may fetch `path`: the longest match wins, and allow wins a tie. */
  allows(agent: string, path: string): boolean;
  /** Agents with a group of their own, lower case. */
  readonly agents: readonly string[];
};

/** For each path: true if `agent` may fetch it. Runs on a worker, because the text is a stranger's. */
export function findAllowed({ text, agent, paths }: AllowedQuestion): readonly boolean[] {
  const robots = parseRobots(text);
  return paths.map((path) => robots.allows(agent, path));
}

type AllowedQuestion = {
  readonly text: string;
  readonly agent: string;
  readonly paths: readonly string[];
};

type Rule = { readonly allow: boolean; readonly pattern: string };
type Group = Rule[];

const BYTE_ORDER_MARK = '\uFEFF';
const ANY_AGENT = '*';

export function parseRobots(text: string): RobotsFacts {
  const groups = readGroups(text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text);
  return {
    allows(agent, path) {
      // robots.txt itself is always allowed (RFC 9309, 2.2.2).
      if (path === '/robots.txt') return true;
      const own = groups.get(agent.toLowerCase()) ?? groups.get(ANY_AGENT) ?? [];
      return isAllowed(own, normalisePath(path));
    },
    agents: [...groups.keys()],
  };
}

/**
 * Collects the groups of each agent: several groups of one agent are merged, and lines that are not rules
 * do not end a group. Agents share one list of rules, because copies would cost agents times rules.
 */
function readGroups(text: string): ReadonlyMap<string, readonly Group[]> {
  const groups = new Map<string, Group[]>();
  let current: Group | null = null;
  let namesAgents = false;
  for (const line of text.split(/\r\n|\n|\r/)) {
    const [key, value] = splitLine(line);
    if (key === 'user-agent') {
      if (!namesAgents || current === null) current = [];
      namesAgents = true;
      addGroup(groups, productToken(value), current);
    } else if (key === 'allow' || key === 'disallow') {
      namesAgents = false;
      if (value !== '') current?.push({ allow: key === 'allow', pattern: normalisePattern(value) });
    }
  }
  return groups;
}

function addGroup(groups: Map<string, Group[]>, agent: string, group: Group): void {
  if (agent === '') return;
  const known = groups.get(agent);
  if (known === undefined) groups.set(agent, [group]);
  else if (known.at(-1) !== group) known.push(group);
}

function splitLine(line: string): readonly [key: string, value: string] {
  const comment = line.indexOf('#');
  const content = comment === -1 ? line : line.slice(0, comment);
  const colon = content.indexOf(':');
  if (colon === -1) return ['', ''];
  return [content.slice(0, colon).trim().toLowerCase(), content.slice(colon + 1).trim()];
}

/** Extracts the product token: "GPTBot/1.1 (+https://…)" gives gptbot. */
function productToken(value: string): string {
  return (value.split(/[\s/]/, 1)[0] ?? '').toLowerCase();
}

function isAllowed(groups: readonly Group[], path: string): boolean {
  let best: Rule | null = null;
  for (const group of groups) {
    for (const rule of group) {
      if (isStronger(rule, best) && matchesPattern(rule.pattern, path)) best = rule;
    }
  }
  return best?.allow ?? true;
}

function isStronger(rule: Rule, than: Rule | null): boolean {
  if (than === null || rule.pattern.length > than.pattern.length) return true;
  return rule.pattern.length === than.pattern.length && rule.allow && !than.allow;
}
