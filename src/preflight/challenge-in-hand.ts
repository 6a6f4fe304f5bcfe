import { allowingOrigin, DEFAULT_POLICY, parseOrigin } from '../guard/origin.ts';
import type { HttpData } from '../model/observation.ts';
import { type Judges, judgeChallenge } from './judge-challenge.ts';
import type { Preflight } from './result.ts';
import { type BuyerTerms, verdictOn } from './verdict.ts';

const NOWHERE = 'https://unknown.invalid';
const MCP_URL = /^mcp:\/\//i;

/**
 * Judges the caller's challenge and sends no request. `url` is its source; when it is null,
 * `resource.url` is trusted. Rejects with OriginRefused for an invalid URL, and when the failure is ours.
 */
export async function preflightInHand(
  required: object,
  url: string | null,
  buyer: Omit<BuyerTerms, 'origin'>,
  judges: Judges,
): Promise<Preflight> {
  const resourceUrl = readResourceUrl(required);
  const stated = originText(url ?? resourceUrl);
  // No request is sent, so an address that the guard would refuse does no harm.
  const origin = parseOrigin(stated, allowingOrigin(stated, DEFAULT_POLICY));
  const answer = toAnswer(required, url ?? NOWHERE);
  const asked = { origin, method: 'GET', isTool: MCP_URL.test(resourceUrl) } as const;
  const judged = await judgeChallenge(asked, answer, judges);
  return verdictOn(judged, { ...buyer, origin: url === null ? null : origin });
}

/** "mcp://api.example.com/tools/x" names its server, "mcp://tool/x" does not. */
function originText(url: string): string {
  const named = MCP_URL.test(url) ? url.replace(MCP_URL, 'https://') : url;
  const parsed = /^https?:\/\//i.test(named) ? URL.parse(named) : null;
  return parsed === null || parsed.hostname === 'tool' ? NOWHERE : parsed.origin;
}

/** Version 2 goes into the header, version 1 into the body. */
function toAnswer(required: object, url: string): HttpData {
  const text = JSON.stringify(required);
  const isHeader = !('x402Version' in required) || required.x402Version !== 1;
  return {
    url,
    method: 'GET',
    status: 402,
    headers: isHeader ? [['payment-required', Buffer.from(text).toString('base64')]] : [],
    body: isHeader ? '{}' : text,
    firstByteMs: 0,
    redirects: [],
  };
}

function readResourceUrl(required: object): string {
  const resource: unknown = 'resource' in required ? required.resource : null;
  const url: unknown =
    typeof resource === 'object' && resource !== null && 'url' in resource ? resource.url : null;
  return typeof url === 'string' ? url : NOWHERE;
}
