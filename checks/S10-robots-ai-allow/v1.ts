/** S10: agents that search, or fetch for a user, may read what is sold here. Rule: README.md. */
import { defineCheck, fail, listed, pass, passageFix, warn } from '#check';
import type { Kit } from '#kit';
import type { RobotsFacts } from '#parse/robots';

/** The operators of the agents document these names. README.md links to their documents. */
const SEARCH_AGENTS = ['OAI-SearchBot', 'Claude-SearchBot', 'PerplexityBot'];
const USER_FETCH_AGENTS = ['ChatGPT-User', 'Claude-User', 'Perplexity-User', 'MistralAI-User'];
const TRAINING_CRAWLERS = [
  'GPTBot',
  'ClaudeBot',
  'Google-Extended',
  'CCBot',
  'Applebot-Extended',
  'meta-externalagent',
  'Amazonbot',
  'Bytespider',
];
const READER_AGENTS = [...SEARCH_AGENTS, ...USER_FETCH_AGENTS];
const DISCOVERY_PATHS = [
  '/openapi.json',
  '/llms.txt',
  '/.well-known/x402',
  '/.well-known/agent-card.json',
];

const FIX = 'Let search and user-fetch agents read / and the discovery paths in /robots.txt.';
const SERVER_FIX = 'Answer GET /robots.txt with 200 or 404: crawlers read a 5xx as "disallow all".';
const KEEP_FIX = 'Keep / and the discovery paths open to search and user-fetch agents.';

const OUTCOMES = {
  'server-error': fail(SERVER_FIX),
  unreadable: warn(SERVER_FIX),
  'all-denied': fail(FIX),
  'some-denied': warn(FIX),
  'no-robots': pass(KEEP_FIX),
  open: pass(KEEP_FIX),
};

export default defineCheck({
  id: 'S10',
  version: 1,
  says: {
    right: 'Agents that search or fetch for a user may read what is sold here.',
    wrong: '/robots.txt keeps agents from reading what is sold here.',
    unjudged: 'It is not known whether agents may read what is sold here.',
  },
  needs: ['robots', 'soft404'],
  requires: ['P1'],
  outcomes: OUTCOMES,

  evaluate({ robots, soft404 }, kit) {
    if (!robots.ok) return ['unreadable', kit.failure('GET /robots.txt', robots)];
    const { status, body, bodyFailure } = robots.data;
    const answer = `GET /robots.txt: ${status}`;
    if (status >= 500) return ['server-error', answer];
    // The missing part may have rules that deny agents.
    if (status === 200 && bodyFailure !== undefined) {
      return ['unreadable', `${answer}, but the body broke off (${bodyFailure})`];
    }
    // A page that answers every path is not a robots.txt, and crawlers find no rule in HTML.
    const isPage = kit.isHtml(robots) || kit.sameBody(robots, soft404);
    if (status !== 200 || isPage) {
      const fix = passageFix('/robots.txt', status);
      return ['no-robots', `${answer}, so agents may read everything`, fix];
    }

    const rules = kit.robots(robots.truncated ? kit.wholeLines(body) : body);
    const denied = READER_AGENTS.filter((agent) => !rules.allows(agent, '/'));
    const isStarDenied = !rules.allows('*', '/');
    // A group of its own may allow each reader what the group of "*" denies.
    if (denied.length === READER_AGENTS.length || (isStarDenied && denied.length > 0)) {
      const agents = isStarDenied ? '"User-agent: *"' : 'every search and user-fetch agent';
      return ['all-denied', `/robots.txt denies "/" to ${agents}`];
    }
    const denials = listDenials(rules, kit);
    if (denials.length > 0) return ['some-denied', `/robots.txt denies ${listed(denials)}`];
    const deniedCrawlers = TRAINING_CRAWLERS.filter((agent) => !rules.allows(agent, '/'));
    const crawlerNote =
      deniedCrawlers.length === 0
        ? ''
        : ` (training crawlers denied: ${deniedCrawlers.join(', ')})`;
    return [
      'open',
      `${answer}; all ${READER_AGENTS.length} agents that we know may read${crawlerNote}`,
    ];
  },
});

/** Returns texts such as `"/openapi.json" to all agents`. */
function listDenials(rules: RobotsFacts, kit: Kit): readonly string[] {
  return ['/', ...DISCOVERY_PATHS].flatMap((path) => {
    const agents = READER_AGENTS.filter((agent) => !rules.allows(agent, path));
    if (agents.length === 0) return [];
    const names =
      agents.length === READER_AGENTS.length ? 'all agents' : agents.slice(0, 2).join(', ');
    return [`${kit.quote(path)} to ${names}`];
  });
}
