/**
 * Parses robots.txt by RFC 9309. The package on npm breaks two of its rules: a Sitemap line must not end a group
 * (2.2.4), and percent-encoded paths must be compared in a normal form (2.2.2).
 */

const UNRESERVED = /^[A-Za-z0-9._~-]$/;

export type RobotsFacts = {
  /** Returns true if `agent` may fetch `path`. The longest matching rule decides; an allow wins a tie. */
  allows(agent: string, path: string): boolean;
  /** The agents that a group names, in lower case. */
  readonly agents: readonly string[];
};

type Rule = { readonly allow: boolean; readonly pattern: string };
type Group = Rule[];

const ANY_AGENT = '*';

export function parseRobots(text: string): RobotsFacts {
  const groups = readGroups(text.replace(/^\uFEFF/, ''));
  return {
    allows(agent, path) {
      // robots.txt itself is always allowed (RFC 9309, 2.2.2).
      if (path === '/robots.txt') return true;
      const agentGroups = groups.get(agent.toLowerCase()) ?? groups.get(ANY_AGENT) ?? [];
      return isAllowed(agentGroups, normalisePath(path));
    },
    agents: [...groups.keys()],
  };
}

/** Returns true for each path that `agent` may fetch. Workers call it, because a stranger wrote the text. */
export function findAllowed({ text, agent, paths }: RobotsQuestion): readonly boolean[] {
  const robots = parseRobots(text);
  return paths.map((path) => robots.allows(agent, path));
}

type RobotsQuestion = {
  readonly text: string;
  readonly agent: string;
  readonly paths: readonly string[];
};

/**
 * Collects the groups of each agent. An agent may have several groups. Lines that are not rules do not end a group.
 * Agents of one group share its list of rules, because copies would multiply the agents by the rules.
 */
function readGroups(text: string): ReadonlyMap<string, readonly Group[]> {
  const groups = new Map<string, Group[]>();
  let current: Group | null = null;
  let isNamingAgents = false;
  for (const line of text.split(/\r\n|\n|\r/)) {
    const [key, value] = splitLine(line);
    if (key === 'user-agent') {
      if (!isNamingAgents || current === null) current = [];
      isNamingAgents = true;
      addGroup(groups, toProductToken(value), current);
    } else if (key === 'allow' || key === 'disallow') {
      isNamingAgents = false;
      if (value !== '') current?.push({ allow: key === 'allow', pattern: normalisePattern(value) });
    }
  }
  return groups;
}

function addGroup(groups: Map<string, Group[]>, agent: string, group: Group): void {
  if (agent === '') return;
  const agentGroups = groups.get(agent);
  if (agentGroups === undefined) groups.set(agent, [group]);
  else if (agentGroups.at(-1) !== group) agentGroups.push(group);
}

function splitLine(line: string): readonly [key: string, value: string] {
  const commentStart = line.indexOf('#');
  const content = commentStart === -1 ? line : line.slice(0, commentStart);
  const colon = content.indexOf(':');
  if (colon === -1) return ['', ''];
  return [content.slice(0, colon).trim().toLowerCase(), content.slice(colon + 1).trim()];
}

/** "GPTBot/1.1 (+https://…)" has the product token gptbot. */
function toProductToken(value: string): string {
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

function isStronger(rule: Rule, other: Rule | null): boolean {
  if (other === null || rule.pattern.length > other.pattern.length) return true;
  return rule.pattern.length === other.pattern.length && rule.allow && !other.allow;
}

/**
 * `*` matches any characters, and a final `$` matches the end of the path. It searches each piece between two `*`
 * once, after the previous piece, so the time is linear in the length of the path.
 */
export function matchesPattern(pattern: string, path: string): boolean {
  const isAnchored = pattern.endsWith('$');
  const [first = '', ...pieces] = (isAnchored ? pattern.slice(0, -1) : pattern).split('*');
  if (!path.startsWith(first)) return false;
  const last = isAnchored ? pieces.pop() : undefined;
  let position = first.length;
  for (const piece of pieces) {
    const index = path.indexOf(piece, position);
    if (index === -1) return false;
    position = index + piece.length;
  }
  if (!isAnchored) return true;
  if (last === undefined) return path.length === first.length;
  return path.length - last.length >= position && path.endsWith(last);
}

/**
 * Normalises equivalent spellings (RFC 9309, 2.2.2): decodes unreserved characters, and writes other escapes in upper
 * case. Encodes characters outside ASCII. `*` and `$` keep their meaning.
 */
function normalisePattern(pattern: string): string {
  return pattern
    .replace(/%[0-9a-fA-F]{2}/g, (octet) => normaliseOctet(octet))
    .replace(/[^\u0021-\u007e]/gu, (character) => encodeURIComponent(character.toWellFormed()));
}

/** `*` and `$` in a path are literal characters. A pattern matches them with %2A and %24 (RFC 9309). */
function normalisePath(path: string): string {
  return normalisePattern(path).replaceAll('*', '%2A').replaceAll('$', '%24');
}

function normaliseOctet(octet: string): string {
  const character = String.fromCharCode(Number.parseInt(octet.slice(1), 16));
  return UNRESERVED.test(character) ? character : octet.toUpperCase();
}
