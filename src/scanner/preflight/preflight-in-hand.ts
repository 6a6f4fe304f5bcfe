import { allowOrigin, DEFAULT_POLICY, parseOrigin } from '../guard/origin.ts';
import { readMembers } from '../model/json.ts';
import type { HttpData } from '../model/observation.ts';
import { judgeChallenge, type PreflightEngine } from './judge-challenge.ts';
import { type BuyerTerms, decideForBuyer } from './preflight-verdict.ts';
import type { Preflight } from './result.ts';

const UNKNOWN_ORIGIN = 'https://unknown.invalid';
const MCP_URL = /^mcp:\/\//i;

/**
 * Judges a challenge that the caller supplies, and sends no request. `url` is the source of the challenge. If `url` is
 * null, `resource.url` counts as the source. Rejects with OriginRefused for an invalid URL, and if the fault is ours.
 */
export async function preflightInHand(
  challenge: object,
  url: string | null,
  buyer: Omit<BuyerTerms, 'origin'>,
  engine: PreflightEngine,
): Promise<Preflight> {
  const resourceUrl = readResourceUrl(challenge);
  const originText = toOriginText(url ?? resourceUrl);
  // No request is sent, so an address that the guard would refuse does no harm.
  const origin = parseOrigin(originText, allowOrigin(originText, DEFAULT_POLICY));
  const answer = toAnswer(challenge, url ?? UNKNOWN_ORIGIN);
  const request = { origin, method: 'GET', isTool: MCP_URL.test(resourceUrl) } as const;
  const judgement = await judgeChallenge(request, answer, engine);
  return decideForBuyer(judgement, { ...buyer, origin: url === null ? null : origin });
}

/** The URL "mcp://api.example.com/tools/x" names its server, and "mcp://tool/x" does not. */
function toOriginText(url: string): string {
  const webUrl = url.replace(MCP_URL, 'https://');
  const parsed = /^https?:\/\//i.test(webUrl) ? URL.parse(webUrl) : null;
  return parsed === null || parsed.hostname === 'tool' ? UNKNOWN_ORIGIN : parsed.origin;
}

/** Puts a challenge of version 1 into the body, and any other challenge into the header. */
function toAnswer(challenge: object, url: string): HttpData {
  const text = JSON.stringify(challenge);
  const isHeader = !('x402Version' in challenge) || challenge.x402Version !== 1;
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

function readResourceUrl(challenge: object): string {
  const { resource } = readMembers(challenge);
  const { url } = readMembers(resource);
  return typeof url === 'string' ? url : UNKNOWN_ORIGIN;
}
