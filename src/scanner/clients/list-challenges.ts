/** Lists the challenges for the official clients. Runs on a worker, because challenges are untrusted input. */
import type { HttpData } from '../model/observation.ts';
import type { ResourceObservation, ResourceSet, ToolFacts } from '../model/observations.ts';
import type { OfferTerms } from '../model/payability.ts';
import { type JsonValue, showJson } from '../parse/json/json.ts';
import { createKit, type Kit } from '../parse/kit/kit.ts';
import { countHeadBytes } from '../parse/text/http-header.ts';
import { escapeInvisible } from '../parse/text/text.ts';
import type { ChallengedResource, Offer } from '../parse/x402/challenge.ts';
import { findClaimedNamespace } from '../parse/x402/networks.ts';

/** The parts of a 402 that a client reads. */
export type ChallengeAnswer = Pick<HttpData, 'headers' | 'body'> & {
  /** Set if the answer's head exceeds the limit of Node's fetch. */
  readonly isLongHead?: true;
};

/** Default `maxHeaderSize` of Node, which applies to its fetch. */
const NODE_HEAD_BYTES = 16_384;
/** Each offer is tried up to twice. Real sellers have few offers. */
export const MAX_OFFERS = 64;
const MAX_TERM_CHARS = 120;

export type ListedChallenge = {
  readonly method: string;
  readonly path: string;
  readonly answer: ChallengeAnswer;
  /** True if an offer names Solana, whose packages load slowly. */
  readonly needsSolana: boolean;
  readonly offers: readonly OfferTerms[];
};

export type ListedChallenges = {
  /** One for each resource with a challenge, in scan order. */
  readonly challenged: readonly ListedChallenge[];
  /** Paid resources that were requested and gave no challenge. */
  readonly silent: readonly Pick<ListedChallenge, 'method' | 'path'>[];
};

export function listChallenges(resources: ResourceSet, kit: Kit = createKit()): ListedChallenges {
  const challenged = kit.allChallenged(resources);
  const challengedResources = new Set(challenged.map(({ resource }) => resource));
  const silent = kit
    .selling(resources)
    .filter((resource) => !challengedResources.has(resource) && !kit.isMadeUp(resource))
    .filter((resource) => !mayHaveChallenge(resource, kit));
  return {
    challenged: challenged.map(toListedChallenge),
    silent: silent.map(({ method, path }) => ({ method: method ?? 'GET', path })),
  };
}

function toListedChallenge(challenged: ChallengedResource): ListedChallenge {
  const { resource, probe, answer, reading } = challenged;
  const { offers } = reading.challenge;
  return {
    method: probe.method,
    path: resource.path,
    answer: resource.tool?.binding
      ? toHeaderAnswer(resource.tool, reading)
      : {
          headers: answer.headers.filter(([name]) => name === 'payment-required'),
          body: answer.body,
          ...(countHeadBytes(answer) >= NODE_HEAD_BYTES ? { isLongHead: true } : {}),
        },
    needsSolana: offers.some(({ network }) => findClaimedNamespace(network) === 'solana'),
    offers: offers.slice(0, MAX_OFFERS).map(toOfferTerms),
  };
}

/**
 * Puts a tool's challenge into a header if MCP clients would read it: by the extension, if the client had offered it;
 * in a result, if the result has `isError` (specs/transports-v2/mcp.md).
 */
function toHeaderAnswer(
  { binding, isError, extension }: ToolFacts,
  { challenge }: ChallengedResource['reading'],
): ChallengeAnswer {
  const isRead = binding === 'extension' ? extension !== 'nobody' : isError === true;
  const text = Buffer.from(JSON.stringify(challenge.value)).toString('base64');
  return { headers: isRead ? [['payment-required', text]] : [], body: '{}' };
}

/** True if we did not send the resource's method, or if the origin may have refused the input before asking to pay. */
function mayHaveChallenge(resource: ResourceObservation, kit: Kit): boolean {
  const status = kit.status(resource, kit.isPostOnly(resource) ? 'POST' : 'GET');
  return status === undefined || kit.validatesFirst(resource);
}

/** Formats terms for reports: cuts them and escapes invisible characters. */
export function toOfferTerms({ pointer, scheme, network, asset, amount }: Offer): OfferTerms {
  return {
    pointer,
    scheme: showTerm(scheme),
    network: showTerm(network),
    asset: showTerm(asset),
    amount: showTerm(amount),
  };
}

function showTerm(value: JsonValue | undefined): string | null {
  if (value === undefined || value === null) return null;
  return typeof value === 'string' ? escapeInvisible(value, MAX_TERM_CHARS) : showJson(value);
}
