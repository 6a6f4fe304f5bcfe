/** Runs on a worker, because origins wrote the challenges. */
import type { ResourceObservation, ResourceSet, ToolFacts } from '../model/observations.ts';
import { createKit, type Kit } from '../parse/kit/kit.ts';
import { headBytes } from '../parse/text/http-header.ts';
import type { ChallengedResource } from '../parse/x402/challenge.ts';
import { claimedNamespace } from '../parse/x402/networks.ts';
import { MAX_OFFERS, type OfferTerms, offerTerms } from './offer-terms.ts';
import type { SeenChallenge } from './try-challenge.ts';

/** Statuses of input validation that runs before the payment check. */
const VALIDATION: ReadonlySet<number | null> = new Set([400, 401, 422]);

/** Default `maxHeaderSize` of Node, which applies to its fetch. */
const NODE_HEAD_BYTES = 16_384;

export type ListedChallenge = {
  readonly method: string;
  readonly path: string;
  readonly seen: SeenChallenge;
  /** True when an offer names Solana, whose packages load slowly. */
  readonly solana: boolean;
  readonly offers: readonly OfferTerms[];
};

export type ListedChallenges = {
  /** One per resource that challenged, in scan order. */
  readonly challenged: readonly ListedChallenge[];
  /** Paid resources that were asked and gave no challenge. */
  readonly silent: readonly Pick<ListedChallenge, 'method' | 'path'>[];
};

export function listChallenges(resources: ResourceSet, kit: Kit = createKit()): ListedChallenges {
  const challenged = kit.challenged(resources);
  const silent = kit
    .selling(resources)
    .filter(
      (one) =>
        !challenged.some(({ resource }) => resource === one) &&
        !kit.isMadeUp(one) &&
        !isHidden(one, kit),
    );
  return {
    challenged: challenged.map(listed),
    silent: silent.map((one) => ({ method: one.method ?? 'GET', path: one.path })),
  };
}

function listed({ resource, probe, answer, reading }: ChallengedResource): ListedChallenge {
  const { offers } = reading.challenge;
  return {
    method: probe.method,
    path: resource.path,
    seen: resource.tool?.binding
      ? resultAsHeader(resource.tool, reading)
      : {
          headers: answer.headers.filter(([name]) => name === 'payment-required'),
          body: answer.body,
          ...(headBytes(answer) >= NODE_HEAD_BYTES ? { isLongHead: true } : {}),
        },
    solana: offers.some(({ network }) => claimedNamespace(network) === 'solana'),
    offers: offers.slice(0, MAX_OFFERS).map(offerTerms),
  };
}

/**
 * Reads a tool's result as the MCP client does: the structured challenge, else the text; a result without
 * `isError` is ignored (specs/transports-v2/mcp.md).
 */
function resultAsHeader(
  { binding, isError, extension }: ToolFacts,
  { challenge }: ChallengedResource['reading'],
): SeenChallenge {
  const isRead = binding === 'extension' ? extension !== 'nobody' : isError === true;
  const text = Buffer.from(JSON.stringify(challenge.value)).toString('base64');
  return { headers: isRead ? [['payment-required', text]] : [], body: '{}' };
}

/** The challenge may be hidden: POST was not sent, or input was validated first. */
function isHidden(resource: ResourceObservation, kit: Kit): boolean {
  const status = kit.status(resource, kit.isPostOnly(resource) ? 'POST' : 'GET');
  return status === undefined || VALIDATION.has(status);
}
