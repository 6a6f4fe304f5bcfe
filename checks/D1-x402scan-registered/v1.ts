/** D1: the public index shows this origin. Rule, and what the index refuses: README.md. */
import { defineCheck, type Seen } from '../../src/engine/define-check.ts';
import { fail, notDetermined, pass, warn } from '../../src/model/verdict.ts';
import type { Kit } from '../../src/parse/kit/kit.ts';

const KEEP = 'Keep the registration on x402scan current.';
const REGISTER = 'Register the origin at x402scan.com/resources/register.';

/** What the index refuses to register, in its own order; sources: README.md. */
const TUNNELS =
  /(?:^|\.)(?:ngrok(?:-free)?\.(?:app|dev|io)|trycloudflare\.com|loca\.lt|localtunnel\.me|serveo\.net|lhr\.life|devtunnels\.ms)$/;
const INDEXED_NETWORKS: ReadonlySet<string> = new Set([
  'eip155:8453',
  'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp',
]);
const MAX_HEADER_CHARS = 16 * 1024;

const NEEDS = [
  'x402scan',
  'origin',
  'root',
  'openapi',
  'openapiAlternates',
  'soft404',
  'resources',
] as const;
type Facts = Seen<(typeof NEEDS)[number]>;

export default defineCheck({
  id: 'D1',
  version: 1,
  needs: NEEDS,
  requires: [],
  outcomes: ['not-displayed', 'not-found', 'registered'],

  evaluate(seen, kit) {
    const { x402scan } = seen;
    if (x402scan.state === 'off') {
      return notDetermined(
        'offline',
        `x402scan was not asked: ${x402scan.why} (0 requests)`,
        REGISTER,
      );
    }
    if (x402scan.state === 'failed') {
      return notDetermined(
        'unseen',
        `${x402scan.source}: ${x402scan.detail} (0 good answers)`,
        REGISTER,
      );
    }
    const { resources } = x402scan.data;
    const age = ageText(x402scan);
    const shown = resources.filter((one) => one.accepts > 0 && !one.deprecated);
    if (shown.length > 0) {
      return pass(
        'registered',
        `x402scan shows ${shown.length} of ${resources.length} resources, ${age}`,
        KEEP,
      );
    }
    const obstacle = findObstacle(seen, kit);
    const evidence = `${age}; ${obstacle?.evidence ?? 'nothing that we see stands in the way'}`;
    const fix = obstacle?.fix ?? REGISTER;
    if (resources.length > 0) {
      const count = `x402scan knows ${resources.length} resources, all deprecated or without accepts`;
      return warn('not-displayed', `${count}, ${evidence}`, fix);
    }
    return fail('not-found', `x402scan has 0 resources of this origin, ${evidence}`, fix);
  },
});

function ageText({ asOf, ageSec }: { readonly asOf: string; readonly ageSec: number }): string {
  return `as of ${asOf} (${Math.floor(ageSec / 3600)} h old)`;
}

type Obstacle = { readonly evidence: string; readonly fix: string };

/** The first rule of registration that would reject this origin; null where we see none. */
function findObstacle(seen: Facts, kit: Kit): Obstacle | null {
  const { origin, root, resources } = seen;
  if (TUNNELS.test(origin.hostname)) {
    return obstacle(
      `${origin.hostname} is a tunnel`,
      'Register from a host that stays, not from a tunnel.',
    );
  }
  const robots = root.ok ? kit.headers(root.data, 'x-robots-tag').join(',') : '';
  if (origin.hostname.endsWith('.vercel.app') && /noindex/i.test(robots)) {
    return obstacle(
      'GET / has "x-robots-tag: noindex": a Vercel preview',
      'Register the production host.',
    );
  }
  const openapi = kit.openapi(seen);
  if (openapi.state !== 'found') {
    return obstacle(
      'no OpenAPI document at /openapi.json',
      'Serve /openapi.json, then register at x402scan.com.',
    );
  }
  const challenged = kit.challenged(resources);
  if (challenged.length === 0) {
    return obstacle(
      '0 resources challenge with 402',
      'Correct what P2 names, then register at x402scan.com.',
    );
  }
  if (challenged.every(({ reading }) => reading.challenge.version === 1)) {
    return obstacle(
      'every challenge is version 1',
      'Send x402 version 2 challenges, then register at x402scan.com.',
    );
  }
  const long = challenged.find(
    ({ answer }) => (kit.header(answer, 'payment-required')?.length ?? 0) > MAX_HEADER_CHARS,
  );
  if (long !== undefined) {
    const chars = kit.header(long.answer, 'payment-required')?.length ?? 0;
    return obstacle(
      `PAYMENT-REQUIRED has ${chars} characters`,
      'Keep the PAYMENT-REQUIRED header under 16 KB.',
    );
  }
  const networks = challenged.flatMap(({ reading }) =>
    reading.challenge.offers.map(({ network }) => network),
  );
  const isIndexed = networks.some(
    (one) => typeof one === 'string' && INDEXED_NETWORKS.has(kit.caip2(one)),
  );
  if (!isIndexed) {
    return obstacle(
      `networks ${kit.show([...new Set(networks)].filter((one) => one !== undefined))}`,
      'Offer a network that x402scan shows: Base or Solana mainnet.',
    );
  }
  return hasInputSchema(seen, kit)
    ? null
    : obstacle(
        'no input schema in OpenAPI or bazaar extension',
        'Declare parameters or requestBody of each paid operation.',
      );
}

function obstacle(evidence: string, fix: string): Obstacle {
  return { evidence, fix };
}

/** The bazaar extension of a challenge, or parameters or a body in the OpenAPI document. */
function hasInputSchema(seen: Facts, kit: Kit): boolean {
  const isInChallenge = kit
    .challenged(seen.resources)
    .some(
      ({ reading }) => kit.at(reading.challenge.value, '/extensions/bazaar/schema') !== undefined,
    );
  const openapi = kit.openapi(seen);
  if (isInChallenge || openapi.state !== 'found') return isInChallenge;
  const { document, operations } = openapi.facts;
  return operations
    .filter((operation) => operation.paid)
    .some(({ pointer }) =>
      ['parameters', 'requestBody'].some(
        (name) => kit.at(document, `${pointer}/${name}`) !== undefined,
      ),
    );
}
