import { isJsonObject, type JsonValue, jsonObject, showJson } from '../json/json.ts';
import { classifyAddressShape } from './address-form.ts';
import { parseAmount } from './amount.ts';
import { findAssetOfOtherNetwork } from './assets.ts';
import { AMOUNT_MEMBERS, type Challenge, findRefusedMember, type Offer } from './challenge.ts';
import { findExtraFaults } from './extra-faults.ts';
import type { OfferFault } from './fault-fixes.ts';
import { BASE_UNITS, isSameAddress, NAMESPACES } from './namespaces.ts';
import {
  classifyNetwork,
  findClaimedNamespace,
  findNamespace,
  suggestNetwork,
  toNetworkName,
} from './networks.ts';
import { findSchemeRow, isUnknownMethod, SCHEMES } from './schemes.ts';

/**
 * Returns all faults of an offer, each with its own pointer, in the order of their precedence. A sound offer has none, and
 * neither has an offer of an unknown scheme, whose members nobody here knows. If only the network is unknown, the members
 * that every network needs are tested.
 */
export function findOfferFaults(offer: Offer, version: 1 | 2): readonly OfferFault[] {
  if (!isJsonObject(offer.entry)) {
    return [{ kind: 'bad-entry', pointer: offer.pointer, value: offer.entry }];
  }
  if (isUnknownScheme(offer)) return [];
  const badFields = findBadFields(offer, version);
  if (isNamedPair(offer)) return badFields;
  return [
    ...badFields,
    ...findAddressFaults(offer, version),
    ...findRangeFaults(offer, AMOUNT_MEMBERS[version]),
    ...findExtraFaults(offer),
  ];
}

/** Returns the members of `exact` that an offer of an unknown scheme lacks: an unknown scheme need not have them. */
export function listLackedMembers(offer: Offer): readonly string[] {
  const { amount, asset, payTo, maxTimeoutSeconds } = offer;
  const members = { amount, asset, payTo, maxTimeoutSeconds };
  return Object.entries(members).flatMap(([name, value]) => (value === undefined ? [name] : []));
}

function findBadFields(offer: Offer, version: 1 | 2): readonly OfferFault[] {
  const { maxAmountRequired: v1Amount, price } = jsonObject(offer.entry);
  const hasV1Amount = version === 2 && offer.amount === undefined && v1Amount !== undefined;
  const fields: readonly [isValid: boolean, member: string, value: JsonValue | undefined][] = [
    [isText(offer.scheme), 'scheme', offer.scheme],
    [isValidNetwork(offer.network, version), 'network', offer.network],
    [hasV1Amount || isAmount(offer), AMOUNT_MEMBERS[version], offer.amount],
    [isValidAddress(offer, offer.asset, 'asset'), 'asset', offer.asset],
    [isValidAddress(offer, offer.payTo, 'account'), 'payTo', offer.payTo],
    [isValidTimeout(offer), 'maxTimeoutSeconds', offer.maxTimeoutSeconds],
    [isValidFlow(offer), 'extra/paymentFlow', jsonObject(offer.extra)['paymentFlow']],
  ];
  const badFields = fields
    .filter(([isValid]) => !isValid)
    .map(([, member, value]): OfferFault => {
      const fault = { kind: 'bad-field', pointer: `${offer.pointer}/${member}`, value } as const;
      // The settings of the SDKs have the price under this name, which no client reads.
      const hasPrice =
        member === AMOUNT_MEMBERS[version] && value === undefined && price !== undefined;
      return hasPrice ? { ...fault, why: `beside the price ${showJson(price)}` } : fault;
    });
  if (!hasV1Amount) return badFields;
  const pointer = `${offer.pointer}/maxAmountRequired`;
  return [{ kind: 'v1-names', pointer, value: v1Amount }, ...badFields];
}

/** Version 1 has one name for each of its networks. Another name for such a network ("base-mainnet") is invalid. */
function isValidNetwork(network: JsonValue | undefined, version: 1 | 2): boolean {
  const form = classifyNetwork(network, version);
  if (form === 'unknown' && version === 1) return suggestNetwork(network, version) === null;
  return form !== 'malformed';
}

/** A client cannot sign a number that is too large: it throws, or it cuts the number. */
function findRangeFaults(offer: Offer, amountMember: string): readonly OfferFault[] {
  const { amount, maxTimeoutSeconds, network, scheme } = offer;
  const row = findSchemeRow(scheme, network);
  const namespace = findNamespace(network);
  const maxAmount =
    row?.maxAmount ?? (namespace === null ? undefined : NAMESPACES[namespace].maxAmount);
  const maxTimeout = row?.maxTimeoutSeconds ?? Number.MAX_SAFE_INTEGER;
  const faults: OfferFault[] = [];
  const units = parseAmount(amount);
  if (maxAmount !== undefined && units !== null && units > maxAmount) {
    const why = `is too much: the most is ${maxAmount}`;
    faults.push(toFault(offer, 'out-of-range', amountMember, why));
  }
  if (typeof maxTimeoutSeconds === 'number' && maxTimeoutSeconds > maxTimeout) {
    const why = `is too long: the most is ${maxTimeout}`;
    faults.push(toFault(offer, 'out-of-range', 'maxTimeoutSeconds', why));
  }
  return faults;
}

function findAddressFaults(offer: Offer, version: 1 | 2): readonly OfferFault[] {
  const { network, asset, payTo } = offer;
  if (typeof network !== 'string' || typeof asset !== 'string' || typeof payTo !== 'string') {
    return [];
  }
  const faults: OfferFault[] = [];
  if (classifyAddressShape(network, payTo, 'account') === 'zero') {
    faults.push(toFault(offer, 'bad-recipient', 'payTo', 'is zero'));
  }
  if (isSameAddress(payTo, asset)) {
    faults.push(toFault(offer, 'bad-recipient', 'payTo', 'is the asset'));
  }
  // A malformed network is the fault, not the token on it.
  const isMalformed = classifyNetwork(network, version) === 'malformed';
  const token = isMalformed ? null : findAssetOfOtherNetwork(network, asset);
  if (token !== null) {
    const [tokenNetwork, offerNetwork] = [toNetworkName(token.network), toNetworkName(network)];
    const why = `is ${token.symbol} on ${tokenNetwork} (${token.network}), not on ${offerNetwork}`;
    faults.push(toFault(offer, 'wrong-chain', 'asset', why));
  }
  return faults;
}

function toFault(
  { pointer, entry }: Offer,
  kind: OfferFault['kind'],
  member: string,
  why: string,
): OfferFault {
  return { kind, pointer: `${pointer}/${member}`, value: jsonObject(entry)[member], why };
}

/**
 * Returns the offers that P6 and P7 judge: the first of these groups that has an offer. The groups are sound offers of
 * a known scheme, network and transfer method, sound offers with rules of their own, all sound offers, and all entries
 * that are objects. If any offer is sound, only P3 reports the faulty offers. Only P3 reports entries that are not objects.
 */
export function findJudgedOffers({ offers, version }: Challenge): readonly Offer[] {
  const objects = offers.filter(({ entry }) => isJsonObject(entry));
  const soundOffers = objects.filter((offer) => findOfferFaults(offer, version).length === 0);
  const offersWithRules = soundOffers.filter((offer) => !isNamedPair(offer));
  const knownOffers = offersWithRules.filter((offer) => !isUnknownOffer(offer, version));
  const groups = [knownOffers, offersWithRules, soundOffers, objects];
  return groups.find((group) => group.length > 0) ?? [];
}

/** Says that no entry of `accepts` can be judged, because there is none or none is an object; null if one can. */
export function describeNoOffer({ offers, value }: Challenge): string | null {
  if (offers.some(({ entry }) => isJsonObject(entry))) return null;
  return `has no offer that can be read, /accepts: ${showJson(value['accepts'])} (see P3)`;
}

/** Returns true for an unknown scheme, and for a pair of scheme and network that no specification names. */
export function isUnknownPair(offer: Offer, version: 1 | 2): boolean {
  const { scheme, network } = offer;
  if (isUnknownScheme(offer)) return true;
  if (!isText(scheme) || typeof network !== 'string') return false;
  return findSchemeRow(scheme, network) === null || classifyNetwork(network, version) === 'unknown';
}

/**
 * Returns true for an offer about which this catalog cannot say if anybody pays it: its scheme, its pair of scheme and
 * network, or its transfer method is unknown. Pairs that are known and not judged are not of this kind.
 */
function isUnknownOffer(offer: Offer, version: 1 | 2): boolean {
  return isUnknownPair(offer, version) || isUnknownMethod(offer);
}

/** Returns true for a challenge that offers nothing but what this catalog does not know (see `isUnknownOffer`). */
export function hasOnlyUnknownOffers({ offers, version }: Challenge): boolean {
  return offers.length > 0 && offers.every((offer) => isUnknownOffer(offer, version));
}

/** Formats the offers of a challenge that has only unknown offers, none with a fault; null for another challenge. */
export function describeUnknownOnly(challenge: Challenge): string | null {
  const { offers, version } = challenge;
  if (!hasOnlyUnknownOffers(challenge)) return null;
  if (offers.some((offer) => findOfferFaults(offer, version).length > 0)) return null;
  const pairs = offers.map(({ pointer, scheme, network, extra }) => {
    const name =
      jsonObject(extra)['verifyingContract'] === undefined ? scheme : jsonObject(extra)['name'];
    return `${pointer} by ${showJson(name)} on ${showJson(network)}`;
  });
  return `${[...new Set(pairs)].join(', ')} is unknown to this catalog`;
}

/** Returns true for a scheme that no x402 specification names on any network. */
export function isUnknownScheme({ scheme }: Pick<Offer, 'scheme'>): boolean {
  return isText(scheme) && SCHEMES.every((row) => row.scheme !== scheme);
}

/**
 * Formats all offers of a challenge if we know their schemes and networks, but do not judge them. Returns null if any
 * offer is of another kind or has a fault, or if the challenge itself is invalid.
 */
export function describeNamedOnly(challenge: Challenge): string | null {
  const { offers, version } = challenge;
  if (offers.length === 0 || findRefusedMember(challenge) !== null) return null;
  const texts = offers.map((offer) =>
    findOfferFaults(offer, version).length === 0 ? describeNamedPair(offer) : null,
  );
  return texts.includes(null) ? null : texts.join(', ');
}

/** Formats an offer of a known scheme and network that have no rules of their own; null for another offer. */
export function describeNamedPair(offer: Offer): string | null {
  if (!isNamedPair(offer)) return null;
  const { pointer, scheme, network } = offer;
  return `${pointer}: ${showJson(scheme)} on ${showJson(network)} is known, not judged here`;
}

function isNamedPair({ scheme, network }: Offer): boolean {
  return findSchemeRow(scheme, network)?.judgedBy === 'named';
}

/** Returns true for a positive number of base units, or for the amount format of the namespace. */
export function isAmount({ amount, network, asset }: Offer): boolean {
  if (typeof amount !== 'string') return false;
  const namespace = findNamespace(network);
  const toPattern = namespace === null ? undefined : NAMESPACES[namespace].amount;
  return (toPattern?.(typeof asset === 'string' ? asset : '') ?? BASE_UNITS).test(amount);
}

function isValidTimeout({ maxTimeoutSeconds, network }: Offer): boolean {
  // An offer of Cloudflare may leave the timeout out, or set it to 0.
  const mayLackTimeout = findClaimedNamespace(network) === 'cloudflare';
  if (mayLackTimeout && (maxTimeoutSeconds === undefined || maxTimeoutSeconds === 0)) return true;
  return Number.isInteger(maxTimeoutSeconds) && Number(maxTimeoutSeconds) > 0;
}

/** Facilitators refuse a flow that the scheme does not have on this network ("unsupported_payment_flow"). */
function isValidFlow({ scheme, network, extra }: Offer): boolean {
  const flows: readonly JsonValue[] | null = findSchemeRow(scheme, network)?.flows ?? null;
  const paymentFlow = jsonObject(extra)['paymentFlow'] ?? null;
  return flows === null || paymentFlow === null || flows.includes(paymentFlow);
}

function isValidAddress(
  { network }: Offer,
  value: JsonValue | undefined,
  role: 'account' | 'asset',
): boolean {
  const networkId = typeof network === 'string' ? network : '';
  return isText(value) && classifyAddressShape(networkId, value, role) !== 'malformed';
}

function isText(value: JsonValue | undefined): value is string {
  return typeof value === 'string' && value !== '';
}
