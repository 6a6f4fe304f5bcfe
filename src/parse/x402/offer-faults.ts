import { type JsonValue, jsonObject, showJson } from '../json/json.ts';
import { classifyAddressShape } from './address-form.ts';
import { parseAmount } from './amount.ts';
import { findAssetOfOtherNetwork } from './assets.ts';
import { type Challenge, findRefusedMember, type Offer } from './challenge.ts';
import { findExtraFaults } from './extra-faults.ts';
import { isSameAddress, NAMESPACES } from './namespaces.ts';
import { classifyNetwork, findClaimedNamespace, findNamespace, toNetworkName } from './networks.ts';
import type { OfferFault } from './offer-fault.ts';
import { findSchemeRow } from './schemes.ts';

const BASE_UNITS = /^[1-9][0-9]{0,77}$/;

/** Returns no faults for a sound offer. If scheme or network is unknown, only the common members are tested. */
export function findOfferFaults(offer: Offer, version: 1 | 2): readonly OfferFault[] {
  const amountName = version === 1 ? 'maxAmountRequired' : 'amount';
  const v1Amount = jsonObject(offer.entry)['maxAmountRequired'];
  if (version === 2 && offer.amount === undefined && v1Amount !== undefined) {
    return [{ kind: 'v1-names', pointer: `${offer.pointer}/maxAmountRequired`, value: v1Amount }];
  }
  const fields: readonly [isValid: boolean, member: string, value: JsonValue | undefined][] = [
    [isText(offer.scheme), 'scheme', offer.scheme],
    [classifyNetwork(offer.network, version) !== 'malformed', 'network', offer.network],
    [isAmount(offer), amountName, offer.amount],
    [isValidAddress(offer, offer.asset, 'asset'), 'asset', offer.asset],
    [isValidAddress(offer, offer.payTo, 'account'), 'payTo', offer.payTo],
    [isValidTimeout(offer), 'maxTimeoutSeconds', offer.maxTimeoutSeconds],
    [isValidFlow(offer), 'extra/paymentFlow', jsonObject(offer.extra)['paymentFlow']],
  ];
  const badFields = fields
    .filter(([isValid]) => !isValid)
    .map(([, member, value]): OfferFault => {
      return { kind: 'bad-field', pointer: `${offer.pointer}/${member}`, value };
    });
  if (badFields.length > 0) return badFields;
  if (describeNamedPair(offer) !== null) return [];
  const faults = [...findRangeFaults(offer, amountName), ...findAddressFaults(offer)];
  return faults.length > 0 ? faults : findExtraFaults(offer);
}

/** A client cannot sign a number that is too large: it throws, or it cuts the number. */
function findRangeFaults(offer: Offer, amountName: string): readonly OfferFault[] {
  const { amount, maxTimeoutSeconds, pointer, network, scheme } = offer;
  const row = findSchemeRow(scheme, network);
  const namespace = typeof network === 'string' ? findNamespace(network) : null;
  const maxAmount =
    row?.maxAmount ?? (namespace === null ? undefined : NAMESPACES[namespace].maxAmount);
  const maxTimeout = row?.maxTimeoutSeconds ?? Number.MAX_SAFE_INTEGER;
  const faults: OfferFault[] = [];
  const units = parseAmount(amount);
  if (maxAmount !== undefined && units !== null && units > maxAmount) {
    const why = `is too much: the most is ${maxAmount}`;
    faults.push({ kind: 'out-of-range', pointer: `${pointer}/${amountName}`, value: amount, why });
  }
  if (Number(maxTimeoutSeconds) > maxTimeout) {
    faults.push({
      kind: 'out-of-range',
      pointer: `${pointer}/maxTimeoutSeconds`,
      value: maxTimeoutSeconds,
      why: `is too long: the most is ${maxTimeout}`,
    });
  }
  return faults;
}

function findAddressFaults({ network, asset, payTo, pointer }: Offer): readonly OfferFault[] {
  if (typeof network !== 'string' || typeof asset !== 'string' || typeof payTo !== 'string') {
    return [];
  }
  const faults: OfferFault[] = [];
  const payToPointer = `${pointer}/payTo`;
  if (classifyAddressShape(network, payTo, 'account') === 'zero') {
    faults.push({ kind: 'bad-recipient', pointer: payToPointer, value: payTo, why: 'is zero' });
  }
  if (isSameAddress(payTo, asset)) {
    faults.push({
      kind: 'bad-recipient',
      pointer: payToPointer,
      value: payTo,
      why: 'is the asset',
    });
  }
  const token = findAssetOfOtherNetwork(network, asset);
  if (token !== null) {
    const [tokenNetwork, offerNetwork] = [toNetworkName(token.network), toNetworkName(network)];
    const why = `is ${token.symbol} on ${tokenNetwork} (${token.network}), not on ${offerNetwork}`;
    faults.push({ kind: 'wrong-chain', pointer: `${pointer}/asset`, value: asset, why });
  }
  return faults;
}

/**
 * Returns the offers that P6 and P7 judge: the first of these groups that has an offer. The groups are sound offers of
 * a known scheme and network, sound offers with rules of their own, all sound offers, and all offers. If any offer is
 * sound, only P3 reports the faulty offers.
 */
export function findJudgedOffers({ offers, version }: Challenge): readonly Offer[] {
  const soundOffers = offers.filter((offer) => findOfferFaults(offer, version).length === 0);
  const offersWithRules = soundOffers.filter((offer) => describeNamedPair(offer) === null);
  const knownOffers = offersWithRules.filter(
    ({ scheme, network }) =>
      findSchemeRow(scheme, network) !== null && classifyNetwork(network, version) === 'ok',
  );
  return (
    [knownOffers, offersWithRules, soundOffers, offers].find((group) => group.length > 0) ?? []
  );
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
export function describeNamedPair({ pointer, scheme, network }: Offer): string | null {
  if (findSchemeRow(scheme, network)?.judgedBy !== 'named') return null;
  return `${pointer}: ${showJson(scheme)} on ${showJson(network)} is known, not judged here`;
}

/** Returns true for a positive number of base units, or for the amount format of the namespace. */
export function isAmount({ amount, network, asset }: Offer): boolean {
  if (typeof amount !== 'string') return false;
  const namespace = typeof network === 'string' ? findNamespace(network) : null;
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
