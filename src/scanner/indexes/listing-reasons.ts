/** Finds why an index does not list a resource, as far as a scan can see it. */
import {
  INDEXED_REASONS,
  type IndexedReason,
  type IndexedReasonCode,
  type IndexName,
} from '../model/indexed.ts';
import type { ListedResource, Observations, ResourceObservation } from '../model/observations.ts';
import { isJsonObject, type JsonValue, jsonObject } from '../parse/json/json.ts';
import type { Kit } from '../parse/kit/kit.ts';
import { isUnderMinimum } from '../parse/x402/amount.ts';
import type { ChallengedResource, Offer } from '../parse/x402/challenge.ts';
import { isSameAddress } from '../parse/x402/namespaces.ts';
import { isTestnet } from '../parse/x402/networks.ts';

export type PaidResource = {
  readonly resource: ResourceObservation;
  readonly method: string;
  readonly challenged: ChallengedResource | null;
};

type ReasonContext = Pick<Observations, 'origin' | 'settlements'> & {
  /** True if the lookup found no entry. Only the Bazaar's reasons use this; its lookup is by recipient. */
  readonly hasNoEntry: boolean;
};

type Reasons = {
  readonly reasons: readonly IndexedReason[];
  /** The bazaar extension, if it still has to be validated. */
  readonly declaration?: JsonValue;
};

/** The check that grades the same fault; null if no check does. */
const CHECK_BY_REASON: Readonly<Record<IndexedReasonCode, string | null>> = {
  not_registered: 'D1',
  no_settlement_seen: 'D3',
  other_facilitator: 'D3',
  no_bazaar_extension: 'S5',
  doubly_wrapped: 'S5',
  invalid_bazaar_extension: 'S5',
  body_only: 'P4',
  v1_only: 'P2',
  validates_before_challenging: 'P2',
  description_over_500: 'P8',
  under_minimum: null,
  testnet_only: null,
  resource_url_elsewhere: 'P3',
  recipient_changes: 'P7',
  lapsing: null,
  lapsed: null,
};
/** Faults for which x402scan refuses to register a resource. */
const REFUSED_BY_X402SCAN: ReadonlySet<IndexedReasonCode> = new Set([
  'no_bazaar_extension',
  'doubly_wrapped',
  'invalid_bazaar_extension',
  'body_only',
  'v1_only',
  'validates_before_challenging',
  'testnet_only',
]);
const REGISTER_AT = 'https://www.x402scan.com/resources/register';
/** The Bazaar removes an entry after this many days without a settlement. */
const LAPSED_AFTER_DAYS = 30;
/** After this many days, reports warn of it. */
const LAPSING_AFTER_DAYS = 25;
const DAY_MS = 86_400_000;
const MAX_DESCRIPTION_CHARS = 500;

export function findReasons(
  index: IndexName,
  unlisted: PaidResource,
  context: ReasonContext,
  kit: Kit,
): Reasons {
  const evidenceByCode = new Map<IndexedReasonCode, string>();
  if (index === 'x402scan') {
    evidenceByCode.set('not_registered', `nobody registered it; register it at ${REGISTER_AT}`);
  } else {
    const reason = findSettlementReason(context);
    if (reason !== null) evidenceByCode.set(...reason);
  }
  for (const [code, evidence] of findChallengeReasons(unlisted, context.origin.hostname, kit)) {
    if (index === 'bazaar' || REFUSED_BY_X402SCAN.has(code)) evidenceByCode.set(code, evidence);
  }
  const reasons = INDEXED_REASONS.flatMap((code) => {
    const evidence = evidenceByCode.get(code);
    return evidence === undefined ? [] : [toReason(code, evidence)];
  });
  // An extension that is wrapped twice has no members to validate.
  const declaration = evidenceByCode.has('doubly_wrapped') ? undefined : findDeclaration(unlisted);
  return declaration === undefined ? { reasons } : { reasons, declaration };
}

export function toReason(code: IndexedReasonCode, evidence: string): IndexedReason {
  return { code, evidence, check: CHECK_BY_REASON[code] };
}

type ReasonEntry = readonly [code: IndexedReasonCode, evidence: string];

function findSettlementReason({ settlements, hasNoEntry }: ReasonContext): ReasonEntry | null {
  if (settlements.state !== 'seen') return null;
  const { source, data } = settlements;
  if (data.settlements === 0 && data.lastAt === null) {
    // If the Bazaar has entries without counts, somebody may have paid. If it has no entry, nobody has.
    const isUnknownRecipient = hasNoEntry && source === 'Bazaar';
    if (data.windowDays === 0 && !isUnknownRecipient) return null;
    const evidence =
      data.windowDays === 0
        ? 'the Bazaar has never heard of the recipient'
        : `${source} saw no settlement in ${data.windowDays} days`;
    return ['no_settlement_seen', `${evidence}; a CDP settlement makes the Bazaar list it`];
  }
  if (!hasNoEntry || source === 'Bazaar') return null;
  const observed = `${source} saw ${data.settlements} settlements`;
  return ['other_facilitator', `${observed}, and the CDP facilitator lists none of them`];
}

function findChallengeReasons(
  { resource, method, challenged }: PaidResource,
  hostname: string,
  kit: Kit,
): readonly ReasonEntry[] {
  const request = kit.request(method, resource.path);
  if (challenged === null) {
    if (!kit.validatesFirst(resource)) return [];
    const status = kit.status(resource, method === 'POST' ? 'POST' : 'GET');
    return [['validates_before_challenging', `${request}: ${status} before any 402`]];
  }
  const { challenge } = challenged.reading;
  const reasons: ReasonEntry[] = [];
  if (challenge.version === 1) {
    reasons.push(['v1_only', `${request}: the challenge is of version 1`]);
  } else {
    if (challenge.where === 'body') {
      reasons.push([
        'body_only',
        `${request}: no PAYMENT-REQUIRED header, the challenge is in the body`,
      ]);
    }
    const declaration = findDeclaration({ challenged });
    if (declaration === undefined) {
      reasons.push(['no_bazaar_extension', `${request}: no /extensions/bazaar in the challenge`]);
    } else if (isJsonObject(jsonObject(declaration)['bazaar'])) {
      reasons.push([
        'doubly_wrapped',
        `${request}: /extensions/bazaar/bazaar holds the declaration`,
      ]);
    }
  }
  const length = Array.from(challenge.description ?? '').length;
  if (length > MAX_DESCRIPTION_CHARS)
    reasons.push(['description_over_500', `${request}: a description of ${length} characters`]);
  reasons.push(...findOfferReasons(challenge.offers, request, kit));
  const host = findOtherHost(challenge.resourceUrl, hostname);
  if (host !== null)
    reasons.push(['resource_url_elsewhere', `${request}: /resource/url is on ${kit.quote(host)}`]);
  const payee = findNewPayee(challenged, kit);
  if (payee !== null)
    reasons.push(['recipient_changes', `${request}: pays ${kit.quote(payee)} when asked again`]);
  return reasons;
}

/** Finds a recipient that only the second probe names. Check P7 compares recipients in the same way. */
function findNewPayee({ reading, second }: ChallengedResource, kit: Kit): string | null {
  if (second === null) return null;
  const listPayees = (offers: readonly Offer[]) =>
    offers.flatMap(({ payTo }) => (typeof payTo === 'string' ? [payTo] : []));
  const firstPayees = listPayees(reading.challenge.offers);
  const isKnown = (payTo: string) => firstPayees.some((payee) => isSameAddress(payee, payTo));
  return listPayees(kit.judgedOffers(second)).find((payTo) => !isKnown(payTo)) ?? null;
}

/** Returns a reason if the Bazaar will soon remove the entry, or should have removed it before `nowMs`. */
export function findLapseReasons(
  { lastSettledAt }: Pick<ListedResource, 'lastSettledAt'>,
  nowMs: number,
): readonly IndexedReason[] {
  const settledMs = Date.parse(lastSettledAt ?? '');
  const days = (nowMs - settledMs) / DAY_MS;
  // The days are NaN if the entry has no settlement.
  if (!(days > LAPSING_AFTER_DAYS)) return [];
  const lapsesAt = new Date(settledMs + LAPSED_AFTER_DAYS * DAY_MS).toISOString();
  const evidence = `last settlement ${lastSettledAt}: the Bazaar drops the listing`;
  return [
    days > LAPSED_AFTER_DAYS
      ? toReason('lapsed', `${evidence} after ${LAPSED_AFTER_DAYS} days, which ended ${lapsesAt}`)
      : toReason('lapsing', `${evidence} from ${lapsesAt} on`),
  ];
}

function findOfferReasons(
  offers: readonly Offer[],
  request: string,
  kit: Kit,
): readonly ReasonEntry[] {
  const [first] = offers;
  if (first === undefined) return [];
  const reasons: ReasonEntry[] = [];
  const offer = `${request} ${first.pointer}`;
  if (offers.every(isUnderMinimum)) {
    const amount = kit.show(first.amount);
    reasons.push(['under_minimum', `${offer}/amount: ${amount}, under 0.001 USD`]);
  }
  if (offers.every(({ network }) => isTestnet(network)))
    reasons.push(['testnet_only', `${offer}/network: ${kit.show(first.network)}`]);
  return reasons;
}

function findOtherHost(url: string | null, hostname: string): string | null {
  if (url === null || !URL.canParse(url)) return null;
  const host = new URL(url).hostname;
  return host === hostname ? null : host;
}

function findDeclaration({ challenged }: Pick<PaidResource, 'challenged'>): JsonValue | undefined {
  const challenge = challenged?.reading.challenge;
  if (challenge === undefined || challenge.version === 1) return undefined;
  return jsonObject(challenge.value['extensions'])['bazaar'];
}
