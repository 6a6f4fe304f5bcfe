/** D1: the public index shows this origin. Rule, and what the index refuses: README.md. */
import {
  askedAt,
  defineCheck,
  fail,
  pass,
  type Seen,
  unanswered,
  warn,
} from '../../src/engine/define-check.ts';
import type { HttpData } from '../../src/model/observation.ts';
import type { Kit } from '../../src/parse/kit/kit.ts';

const REGISTER = 'Register the origin at x402scan.com/resources/register.';

/** Hosts that the index refuses to register, in its own order; sources: README.md. */
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

const OUTCOMES = {
  'not-displayed': warn(REGISTER),
  'not-found': fail(REGISTER),
  registered: pass('Keep the registration on x402scan current.'),
};

export default defineCheck({
  id: 'D1',
  version: 1,
  says: {
    right: 'The public index of x402 resources shows this origin.',
    wrong: 'The public index of x402 resources does not show this origin.',
    unjudged: 'It is not known whether the public index of x402 resources shows this origin.',
  },
  needs: NEEDS,
  requires: [],
  outcomes: OUTCOMES,

  evaluate(seen, kit) {
    const { x402scan } = seen;
    if (x402scan.state !== 'seen') return unanswered(x402scan, 'x402scan', REGISTER);
    const { resources } = x402scan.data;
    const age = askedAt(x402scan);
    const shown = resources.filter((one) => one.accepts > 0 && !one.deprecated);
    if (shown.length > 0) {
      const count = `${shown.length} of ${resources.length} resources`;
      return ['registered', `x402scan shows ${count}, ${age}`];
    }
    const [obstacle, fix] = refusalOf(seen, kit) ?? ['we see nothing that would prevent it'];
    if (resources.length > 0) {
      const count = `x402scan knows ${resources.length} resources; all are deprecated or have no accepts`;
      return ['not-displayed', `${count}, ${age}; ${obstacle}`, fix];
    }
    return ['not-found', `x402scan has 0 resources of this origin, ${age}; ${obstacle}`, fix];
  },
});

/** The first rule of registration that would reject this origin, in the index's own order. */
function refusalOf(seen: Facts, kit: Kit): readonly [evidence: string, fix?: string] | null {
  const { origin, resources } = seen;
  if (TUNNELS.test(origin.hostname)) {
    return [`${origin.hostname} is a tunnel`, 'Register a permanent host, not a tunnel.'];
  }
  if (isPreview(seen, kit)) {
    const evidence = 'GET / has "x-robots-tag: noindex", as Vercel previews have';
    return [evidence, 'Register the production host.'];
  }
  if (kit.openapi(seen).state !== 'found') {
    const fix = 'Serve /openapi.json, then register at x402scan.com.';
    return ['/openapi.json is not an OpenAPI document', fix];
  }
  const challenged = kit.challenged(resources);
  if (challenged.length === 0) {
    const fix = 'Fix P2, then register at x402scan.com.';
    return ['no resource answered 402 with a challenge', fix];
  }
  if (challenged.every(({ reading }) => reading.challenge.version === 1)) {
    const fix = 'Send x402 version 2 challenges, then register at x402scan.com.';
    return ['every challenge is version 1', fix];
  }
  const chars = Math.max(...challenged.map(({ answer }) => headerChars(answer, kit)));
  if (chars > MAX_HEADER_CHARS) {
    const fix = 'Keep the PAYMENT-REQUIRED header under 16 KB.';
    return [`PAYMENT-REQUIRED has ${chars} characters`, fix];
  }
  const networks = challenged
    .flatMap(({ reading }) => reading.challenge.offers.map(({ network }) => network))
    .filter((network) => network !== undefined);
  if (!networks.some((one) => typeof one === 'string' && INDEXED_NETWORKS.has(kit.caip2(one)))) {
    const fix = 'Offer a network that x402scan shows: Base or Solana mainnet.';
    return [`it offers only the networks ${kit.show([...new Set(networks)])}`, fix];
  }
  if (hasInputSchema(seen, kit)) return null;
  const fix = 'Declare parameters or requestBody of each paid operation.';
  return ['neither OpenAPI nor the bazaar extension has an input schema', fix];
}

function isPreview({ origin, root }: Facts, kit: Kit): boolean {
  if (!origin.hostname.endsWith('.vercel.app') || !root.ok) return false;
  return /noindex/i.test(kit.headers(root.data, 'x-robots-tag').join(','));
}

function headerChars(answer: HttpData, kit: Kit): number {
  return kit.header(answer, 'payment-required')?.length ?? 0;
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
