/** What is wrong with an offer by the specification alone, whatever a client makes of it. */
import { type JsonValue, jsonObject } from '../json/json.ts';
import { addressForm } from './address-form.ts';
import { knownAsset } from './assets.ts';
import type { Challenge, Offer } from './challenge.ts';
import { NAMESPACES } from './namespaces.ts';
import { namespaceOf, networkForm } from './networks.ts';
import {
  type ExtraForm,
  type ExtraMember,
  type SchemeRow,
  schemeRow,
  transferMethod,
} from './schemes.ts';

/**
 * `v1-names`: version 1's amount in version 2. `missing-member`: `extra` lacks what the scheme needs
 * there, its domain apart. `wrong-domain`: a known asset under another EIP-712 domain than its own.
 */
export type OfferFault = {
  readonly kind: 'v1-names' | 'bad-field' | 'no-domain' | 'missing-member' | 'wrong-domain';
  readonly pointer: string;
  readonly value: JsonValue | undefined;
};

const BASE_UNITS = /^[1-9][0-9]{0,77}$/;
const FLOWS: ReadonlySet<JsonValue | undefined> = new Set(['authorization', 'upfront', 'escrow']);
const DOMAIN_MEMBERS: ReadonlySet<string> = new Set(['name', 'version']);
const EIP3009 = 'eip3009';

/** Empty where an offer is sound by the table, or of a scheme or network that the table lacks. */
export function offerFaults(offer: Offer, version: 1 | 2): readonly OfferFault[] {
  const amountName = version === 1 ? 'maxAmountRequired' : 'amount';
  const old = jsonObject(offer.entry)['maxAmountRequired'];
  if (version === 2 && offer.amount === undefined && old !== undefined) {
    return [{ kind: 'v1-names', pointer: `${offer.pointer}/maxAmountRequired`, value: old }];
  }
  const fields: readonly [isRight: boolean, member: string, value: JsonValue | undefined][] = [
    [isText(offer.scheme), 'scheme', offer.scheme],
    [networkForm(offer.network, version) !== 'malformed', 'network', offer.network],
    [isAmount(offer), amountName, offer.amount],
    [isAddress(offer, offer.asset, 'asset'), 'asset', offer.asset],
    [isAddress(offer, offer.payTo, 'account'), 'payTo', offer.payTo],
    [isTimeout(offer.maxTimeoutSeconds), 'maxTimeoutSeconds', offer.maxTimeoutSeconds],
    [isFlow(offer.extra), 'extra/paymentFlow', jsonObject(offer.extra)['paymentFlow']],
  ];
  const bad = fields
    .filter(([isRight]) => !isRight)
    .map(([, member, value]): OfferFault => {
      return { kind: 'bad-field', pointer: `${offer.pointer}/${member}`, value };
    });
  return bad.length > 0 ? bad : extraFaults(offer);
}

/**
 * One bad or unknown offer beside a sound one is no fault of the seller's: P3 names it, and no
 * other check does. Where none is sound, offers of schemes and networks that we do not know, then all.
 */
export function judgedOffers({ offers, version }: Challenge): readonly Offer[] {
  const sound = offers.filter((offer) => offerFaults(offer, version).length === 0);
  const known = sound.filter(
    ({ scheme, network }) =>
      schemeRow(scheme, network) !== null && networkForm(network, version) === 'ok',
  );
  return [known, sound, offers].find((some) => some.length > 0) ?? [];
}

/** A positive number of base units, or what the namespace writes in its place. */
export function isAmount({ amount, network, asset }: Offer): boolean {
  if (typeof amount !== 'string') return false;
  const namespace = typeof network === 'string' ? namespaceOf(network) : null;
  const form = namespace === null ? undefined : NAMESPACES[namespace].amount;
  return (form?.(typeof asset === 'string' ? asset : '') ?? BASE_UNITS).test(amount);
}

function isTimeout(value: JsonValue | undefined): boolean {
  return Number.isInteger(value) && Number(value) > 0;
}

function isFlow(extra: JsonValue | undefined): boolean {
  const { paymentFlow } = jsonObject(extra);
  return paymentFlow === undefined || paymentFlow === null || FLOWS.has(paymentFlow);
}

function isAddress(
  { network }: Offer,
  value: JsonValue | undefined,
  role: 'account' | 'asset',
): boolean {
  if (!isText(value)) return false;
  const on = typeof network === 'string' ? network : '';
  return addressForm(on, value, role) !== 'malformed';
}

function extraFaults(offer: Offer): readonly OfferFault[] {
  const row = schemeRow(offer.scheme, offer.network);
  if (row === null) return [];
  const extra = jsonObject(offer.extra);
  const method = transferMethod(row, offer.extra);
  const isNeeded = ({ onlyBy, unlessAsset }: ExtraMember) =>
    (onlyBy === undefined || onlyBy === method) && unlessAsset !== offer.asset;
  const missing = row.requires
    .filter(isNeeded)
    .filter(({ name, form }) => !hasForm(extra[name], form, offer))
    .map(({ name }): OfferFault => {
      const kind = DOMAIN_MEMBERS.has(name) ? 'no-domain' : 'missing-member';
      return { kind, pointer: `${offer.pointer}/extra/${name}`, value: extra[name] };
    });
  return missing.length > 0 ? missing : domainFaults(offer, row);
}

/** The domain of a token is a fact of its contract: a signature under another one is worth nothing. */
function domainFaults(offer: Offer, row: SchemeRow): readonly OfferFault[] {
  const { network, asset, extra, pointer } = offer;
  const isSigned = row.requires.some(({ name }) => name === 'name');
  if (!isSigned || transferMethod(row, extra) !== EIP3009) return [];
  if (typeof network !== 'string' || typeof asset !== 'string') return [];
  const domain = knownAsset(network, asset)?.domain ?? null;
  if (domain === null) return [];
  return (['name', 'version'] as const).flatMap((member): readonly OfferFault[] => {
    const value = jsonObject(extra)[member];
    if (value === domain[member]) return [];
    return [{ kind: 'wrong-domain', pointer: `${pointer}/extra/${member}`, value }];
  });
}

function hasForm(value: JsonValue | undefined, form: ExtraForm, { network }: Offer): boolean {
  if (form === 'false') return value === false;
  if (form === 'integer') return Number.isInteger(value);
  if (form === 'positive') return Number.isInteger(value) && Number(value) > 0;
  if (!isText(value)) return false;
  if (form === 'text') return true;
  const found = addressForm(String(network), value, 'account');
  return found !== 'malformed' && (form === 'address' || found !== 'zero');
}

function isText(value: JsonValue | undefined): value is string {
  return typeof value === 'string' && value !== '';
}
