/** The challenges of a scan as clients would read them; runs on a worker, because origins wrote them. */
import type { ResourceObservation, ResourceSet, ToolFacts } from '../model/observations.ts';
import { createKit } from '../parse/kit/create-kit.ts';
import type { Kit } from '../parse/kit/kit.ts';
import { headBytes } from '../parse/text/http-header.ts';
import type { ChallengedResource } from '../parse/x402/challenge.ts';
import { claimedNamespace } from '../parse/x402/networks.ts';
import { MAX_OFFERS, type OfferTerms, offerTerms } from './offer-terms.ts';
import type { SeenChallenge } from './try-challenge.ts';

/** What input validation answers where it runs before the payment check. */
const VALIDATION: ReadonlySet<number | null> = new Set([400, 401, 422]);

/** Node's `maxHeaderSize`, which its fetch has too. */
const NODE_HEAD_BYTES = 16_384;

export type ListedChallenge = {
  readonly method: string;
  readonly path: string;
  readonly seen: SeenChallenge;
  /** Whether an offer names Solana, whose packages take their time to load. */
  readonly solana: boolean;
  readonly offers: readonly OfferTerms[];
};

export type ListedChallenges = {
  /** One for each resource that challenged, in the order of the scan. */
  readonly challenged: readonly ListedChallenge[];
  /** Paid resources that were asked, and gave none. */
  readonly silent: readonly Pick<ListedChallenge, 'method' | 'path'>[];
};

export function listChallenges(resources: ResourceSet): ListedChallenges {
  const kit = createKit();
  const challenged = kit.challenged(resources);
  const signIns = kit.signIns(resources);
  const silent = resources.probed.filter(
    (one) =>
      !signIns.includes(one) &&
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
 * A tool's result as the client over MCP takes it: the structured challenge, else the text, and
 * nothing of a result that does not say that it is an error (specs/transports-v2/mcp.md).
 */
function resultAsHeader(
  { binding, isError, extension }: ToolFacts,
  { challenge }: ChallengedResource['reading'],
): SeenChallenge {
  const isRead = binding === 'extension' ? extension !== 'nobody' : isError === true;
  const text = Buffer.from(JSON.stringify(challenge.value)).toString('base64');
  return { headers: isRead ? [['payment-required', text]] : [], body: '{}' };
}

/** No answer to what we may send: a POST that was not sent, or input that was asked for first. */
function isHidden(resource: ResourceObservation, kit: Kit): boolean {
  const status = kit.status(resource, kit.isPostOnly(resource) ? 'POST' : 'GET');
  return status === undefined || VALIDATION.has(status);
}
