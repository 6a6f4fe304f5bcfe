import { type JsonValue, jsonObject, showJson } from '../json/json.ts';
import { classifyAddressShape } from './address-form.ts';
import { parseAmount } from './amount.ts';
import { assetOfOtherNetwork } from './assets.ts';
import { type Challenge, findRefusedMember, type Offer } from './challenge.ts';
import { findExtraFaults } from './extra-faults.ts';
import { isSameAddress, NAMESPACES } from './namespaces.ts';
import { classifyNetwork, findClaimedNamespace, findNamespace, toNetworkName } from './networks.ts';
import type { OfferFault } from './offer-fault.ts';
import { findSchemeRow } from './schemes.ts';

const BASE_UNITS = /^[1-9][0-9]{0,77}$/;

/** Empty when an offer is sound, or its scheme or network is unknown. */
export function findOfferFaults(offer: Offer, version: 1 | 2): readonly OfferFault[] {
  const amountName = version === 1 ? 'maxAmountRequired' : 'amount';
  const old = jsonObject(offer.entry)['maxAmountRequired'];
  if (version === 2 && offer.amount === undefined && old !== undefined) {
    return [{ kind: 'v1-names', pointer: `${offer.pointer}/maxAmountRequired`, value: old }];
  }
  const fields: readonly [isRight: boolean, member: string, value: JsonValue | undefined][] = [
    [isText(offer.scheme), 'scheme', offer.scheme],
    [classifyNetwork(offer.network, version) !== 'malformed', 'network', offer.network],
    [isAmount(offer), amountName, offer.amount],
    [isAddress(offer, offer.asset, 'asset'), 'asset', offer.asset],
    [isAddress(offer, offer.payTo, 'account'), 'payTo', offer.payTo],
    [isTimeout(offer), 'maxTimeoutSeconds', offer.maxTimeoutSeconds],
    [isFlow(offer), 'extra/paymentFlow', jsonObject(offer.extra)['paymentFlow']],
  ];
  const bad = fields
    .filter(([isRight]) => !isRight)
    .map(([, member, value]): OfferFault => {
      return { kind: 'bad-field', pointer: `${offer.pointer}/${member}`, value };
    });
  if (bad.length > 0) return bad;
  if (describeNamedPair(offer) !== null) return [];
  const wrong = [...rangeFaults(offer, amountName), ...partyFaults(offer)];
  return wrong.length > 0 ? wrong : findExtraFaults(offer);
}

/** Numbers out of range cannot be signed: they would be cut, or the client throws. */
function rangeFaults(offer: Offer, amountName: string): readonly OfferFault[] {
  const { amount, maxTimeoutSeconds, pointer, network, scheme } = offer;
  const row = findSchemeRow(scheme, network);
  const namespace = typeof network === 'string' ? findNamespace(network) : null;
  const most = row?.maxAmount ?? (namespace === null ? undefined : NAMESPACES[namespace].maxAmount);
  const longest = row?.maxTimeoutSeconds ?? Number.MAX_SAFE_INTEGER;
  const faults: OfferFault[] = [];
  const units = parseAmount(amount);
  if (most !== undefined && units !== null && units > most) {
    const why = `is too much: the most is ${most}`;
    faults.push({ kind: 'out-of-range', pointer: `${pointer}/${amountName}`, value: amount, why });
  }
  if (Number(maxTimeoutSeconds) > longest) {
    const at = `${pointer}/maxTimeoutSeconds`;
    faults.push({
      kind: 'out-of-range',
      pointer: at,
      value: maxTimeoutSeconds,
      why: `is too long: the most is ${longest}`,
    });
  }
  return faults;
}

/** Checks the recipient and the token. */
function partyFaults({ network, asset, payTo, pointer }: Offer): readonly OfferFault[] {
  if (typeof network !== 'string' || typeof asset !== 'string' || typeof payTo !== 'string') {
    return [];
  }
  const faults: OfferFault[] = [];
  const recipient = `${pointer}/payTo`;
  if (classifyAddressShape(network, payTo, 'account') === 'zero') {
    faults.push({ kind: 'bad-recipient', pointer: recipient, value: payTo, why: 'is zero' });
  }
  if (isSameAddress(payTo, asset)) {
    faults.push({ kind: 'bad-recipient', pointer: recipient, value: payTo, why: 'is the asset' });
  }
  const other = assetOfOtherNetwork(network, asset);
  if (other !== null) {
    const [there, here] = [toNetworkName(other.network), toNetworkName(network)];
    const why = `is ${other.symbol} on ${there} (${other.network}), not on ${here}`;
    faults.push({ kind: 'wrong-chain', pointer: `${pointer}/asset`, value: asset, why });
  }
  return faults;
}

/**
 * Returns the sound offers, because a bad or unknown offer beside a sound one is reported only by P3.
 * Without a sound one, it returns offers of unknown schemes and networks, and without these, all.
 */
export function findJudgedOffers({ offers, version }: Challenge): readonly Offer[] {
  const sound = offers.filter((offer) => findOfferFaults(offer, version).length === 0);
  const judged = sound.filter((offer) => describeNamedPair(offer) === null);
  const known = judged.filter(
    ({ scheme, network }) =>
      findSchemeRow(scheme, network) !== null && classifyNetwork(network, version) === 'ok',
  );
  return [known, judged, sound, offers].find((some) => some.length > 0) ?? [];
}

/**
 * Formats the pairs of a challenge that offers only what is known and not judged. Null if it offers
 * anything else, or if no client could read it.
 */
export function describeNamedOnly(challenge: Challenge): string | null {
  const { offers, version } = challenge;
  if (offers.length === 0 || findRefusedMember(challenge) !== null) return null;
  const named = offers.map((offer) =>
    findOfferFaults(offer, version).length === 0 ? describeNamedPair(offer) : null,
  );
  return named.includes(null) ? null : named.join(', ');
}

/** Known by its specification, and judged by the rules of every offer only; null for other pairs. */
export function describeNamedPair({ pointer, scheme, network }: Offer): string | null {
  if (findSchemeRow(scheme, network)?.judgedBy !== 'named') return null;
  return `${pointer}: ${showJson(scheme)} on ${showJson(network)} is known, not judged here`;
}

/** Accepts a positive number of base units, or the namespace's own amount format. */
export function isAmount({ amount, network, asset }: Offer): boolean {
  if (typeof amount !== 'string') return false;
  const namespace = typeof network === 'string' ? findNamespace(network) : null;
  const form = namespace === null ? undefined : NAMESPACES[namespace].amount;
  return (form?.(typeof asset === 'string' ? asset : '') ?? BASE_UNITS).test(amount);
}

function isTimeout({ maxTimeoutSeconds, network }: Offer): boolean {
  // Its document may leave the timeout out, or set it to 0.
  const isFree = findClaimedNamespace(network) === 'cloudflare';
  if (isFree && (maxTimeoutSeconds === undefined || maxTimeoutSeconds === 0)) return true;
  return Number.isInteger(maxTimeoutSeconds) && Number(maxTimeoutSeconds) > 0;
}

/** Facilitators refuse a flow that the pair does not have ("unsupported_payment_flow"). */
function isFlow({ scheme, network, extra }: Offer): boolean {
  const flows: readonly JsonValue[] | null = findSchemeRow(scheme, network)?.flows ?? null;
  const paymentFlow = jsonObject(extra)['paymentFlow'] ?? null;
  return flows === null || paymentFlow === null || flows.includes(paymentFlow);
}

function isAddress(
  { network }: Offer,
  value: JsonValue | undefined,
  role: 'account' | 'asset',
): boolean {
  if (!isText(value)) return false;
  const on = typeof network === 'string' ? network : '';
  return classifyAddressShape(on, value, role) !== 'malformed';
}

function isText(value: JsonValue | undefined): value is string {
  return typeof value === 'string' && value !== '';
}
