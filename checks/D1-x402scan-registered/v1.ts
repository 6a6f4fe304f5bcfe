/** D1: the public index shows this origin. Rule and sources: README.md. */
import { askedAt, defineCheck, fail, pass, type Seen, unanswered, warn } from '#check';
import type { Kit } from '#kit';
import type { HttpData } from '#model';

const REGISTER_FIX = 'Register the origin at x402scan.com/resources/register.';

/** Hosts of tunnels, which the index refuses to register. */
const TUNNEL_HOSTS =
  /(?:^|\.)(?:ngrok(?:-free)?\.(?:app|dev|io)|trycloudflare\.com|loca\.lt|localtunnel\.me|serveo\.net|lhr\.life|devtunnels\.ms)$/;
/** Base and Solana mainnet. */
const INDEXED_NETWORKS: ReadonlySet<string> = new Set([
  'eip155:8453',
  'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp',
]);
/** The index does not register a resource whose PAYMENT-REQUIRED header is longer. */
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
  'not-displayed': warn(REGISTER_FIX),
  'not-found': fail(REGISTER_FIX),
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
    if (x402scan.state !== 'seen') return unanswered(x402scan, 'x402scan', REGISTER_FIX);
    const { resources } = x402scan.data;
    const asOf = askedAt(x402scan);
    const displayed = resources.filter(({ accepts, deprecated }) => accepts > 0 && !deprecated);
    if (displayed.length > 0) {
      const shownShare = `${displayed.length} of ${resources.length} resources`;
      return ['registered', `x402scan shows ${shownShare}, ${asOf}`];
    }
    const [obstacle, fix] = findObstacle(seen, kit) ?? ['we see no obstacle to registration'];
    if (resources.length > 0) {
      const hiddenShare = `x402scan knows ${resources.length} resources; all are deprecated or have no accepts`;
      return ['not-displayed', `${hiddenShare}, ${asOf}; ${obstacle}`, fix];
    }
    return ['not-found', `x402scan has 0 resources of this origin, ${asOf}; ${obstacle}`, fix];
  },
});

/** Finds the first rule of registration, in the order of the index, that rejects this origin; null if none does. */
function findObstacle(seen: Facts, kit: Kit): readonly [evidence: string, fix?: string] | null {
  const { origin, resources } = seen;
  if (TUNNEL_HOSTS.test(origin.hostname)) {
    return [`${origin.hostname} is a tunnel`, 'Register a permanent host, not a tunnel.'];
  }
  if (isVercelPreview(seen, kit)) {
    const evidence = 'GET / has "x-robots-tag: noindex", as Vercel previews have';
    return [evidence, 'Register the production host.'];
  }
  const openapi = kit.openapi(seen);
  // A 429 or a limit of ours kept the document from us. The index may read it.
  if (openapi.state === 'unread')
    return [`the OpenAPI document was not read (${openapi.evidence})`];
  if (openapi.state === 'none') {
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
  const chars = Math.max(...challenged.map(({ answer }) => countHeaderChars(answer, kit)));
  if (chars > MAX_HEADER_CHARS) {
    const fix = 'Keep the PAYMENT-REQUIRED header under 16 KB.';
    return [`PAYMENT-REQUIRED has ${chars} characters`, fix];
  }
  const networks = challenged
    .flatMap(({ reading }) => reading.challenge.offers.map(({ network }) => network))
    .filter((network) => network !== undefined);
  if (!networks.some((id) => typeof id === 'string' && INDEXED_NETWORKS.has(kit.caip2(id)))) {
    const fix = 'Offer a network that x402scan shows: Base or Solana mainnet.';
    return [`it offers only the networks ${kit.show([...new Set(networks)])}`, fix];
  }
  if (hasInputSchema(seen, kit)) return null;
  const fix = 'Declare parameters or requestBody of each paid operation.';
  return ['neither OpenAPI nor the bazaar extension has an input schema', fix];
}

function isVercelPreview({ origin, root }: Facts, kit: Kit): boolean {
  if (!origin.hostname.endsWith('.vercel.app') || !root.ok) return false;
  return /noindex/i.test(kit.headers(root.data, 'x-robots-tag').join(','));
}

function countHeaderChars(answer: HttpData, kit: Kit): number {
  return kit.header(answer, 'payment-required')?.length ?? 0;
}

/** The `schema` of a bazaar extension counts as an input schema, and so do parameters or a body of an OpenAPI operation. */
function hasInputSchema(seen: Facts, kit: Kit): boolean {
  const schemas = kit
    .challenged(seen.resources)
    .map(({ reading }) => kit.at(reading.challenge.value, '/extensions/bazaar/schema'));
  if (schemas.some((schema) => schema !== undefined)) return true;
  const openapi = kit.openapi(seen);
  if (openapi.state !== 'found') return false;
  const { document, operations } = openapi.facts;
  const inputs = operations
    .filter(({ paid }) => paid)
    .flatMap(({ pointer }) => [`${pointer}/parameters`, `${pointer}/requestBody`]);
  return inputs.some((input) => kit.at(document, input) !== undefined);
}
