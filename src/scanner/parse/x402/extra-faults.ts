/** Finds faults of `extra`: in the members that a scheme requires, and in the EIP-712 domain of known assets. */
import { isJsonObject, type JsonValue, jsonObject } from '../json/json.ts';
import { classifyAddressShape } from './address-form.ts';
import { findOfferAsset } from './assets.ts';
import type { Offer } from './challenge.ts';
import type { OfferFault } from './fault-fixes.ts';
import type { ExtraForm, ExtraMember, SchemeRow } from './scheme-row.ts';
import { EIP3009, findSchemeRow, findTransferMethod } from './schemes.ts';

const DOMAIN_MEMBERS: ReadonlySet<string> = new Set(['name', 'version']);
/** The limit of @x402/svm. Longer memos do not fit into a transaction. */
const MAX_MEMO_BYTES = 256;

/** Returns no faults if the pair of scheme and network has no row. */
export function findExtraFaults(offer: Offer): readonly OfferFault[] {
  const row = findSchemeRow(offer.scheme, offer.network);
  if (row === null) return [];
  const extra = jsonObject(offer.extra);
  const faults = row.requires
    .filter((member) => appliesTo(member, row, offer))
    .filter(({ name, form }) => !hasForm(extra[name], form, offer))
    .map(({ name, form }) => toMemberFault(name, form, offer));
  return faults.length > 0 ? faults : findDomainFaults(offer, row);
}

/** True if the conditions of a member hold for the offer, and the member is required or present. */
function appliesTo(member: ExtraMember, row: SchemeRow, offer: Offer): boolean {
  const { extra, asset } = offer;
  const { name, onlyBy, onlyIn, unlessAsset, isOptional } = member;
  const members = jsonObject(extra);
  if (onlyBy !== undefined && onlyBy !== findTransferMethod(row, offer)) return false;
  if (onlyIn !== undefined && onlyIn !== (members['paymentFlow'] ?? row.flows?.[0])) return false;
  if (unlessAsset !== undefined && unlessAsset === asset) return false;
  return isOptional !== true || (members[name] ?? null) !== null;
}

function toMemberFault(name: string, form: ExtraForm, offer: Offer): OfferFault {
  const value = jsonObject(offer.extra)[name];
  const isNumber = typeof form === 'object' && ('bits' in form || 'least' in form);
  const isOutOfRange = form === 'memo' || (isNumber && Number.isInteger(value));
  const kind = DOMAIN_MEMBERS.has(name) ? 'no-domain' : 'missing-member';
  const why = describeRule(form, offer);
  return {
    kind: isOutOfRange ? 'out-of-range' : kind,
    pointer: `${offer.pointer}/extra/${name}`,
    value,
    ...(why === null ? {} : { why }),
  };
}

/** Names the rule that a value breaks; null if the value itself shows the fault. */
function describeRule(form: ExtraForm, offer: Offer): string | null {
  if (form === 'memo') return `is not a text of at most ${MAX_MEMO_BYTES} bytes`;
  if (form === 'absent') return 'must not be used with this paymentFlow';
  if (typeof form === 'string') return null;
  if ('bits' in form) return `does not fit into ${form.bits} bits`;
  if ('oneOf' in form)
    return `is not ${form.oneOf.map((text) => JSON.stringify(text)).join(' or ')}`;
  if ('hexDigits' in form) return `is not ${form.hexDigits} lower-case hexadecimal digits`;
  const timeoutSeconds = findCoveredTimeout(form, offer);
  const timeoutRule = timeoutSeconds === null ? '' : ` and not below ${timeoutSeconds}`;
  return `is not a whole number from ${form.least} to ${form.most}${timeoutRule}`;
}

/** Returns the timeout of the offer if the value must be at least that long; null if it need not be. */
function findCoveredTimeout(
  { coversTimeout }: Extract<ExtraForm, { readonly least: number }>,
  { maxTimeoutSeconds }: Offer,
): number | null {
  const hasTimeout = coversTimeout === true && typeof maxTimeoutSeconds === 'number';
  return hasTimeout ? maxTimeoutSeconds : null;
}

/** The contract of a token defines its EIP-712 domain. A signature with another domain is invalid. */
function findDomainFaults(offer: Offer, row: SchemeRow): readonly OfferFault[] {
  const { extra, pointer } = offer;
  const needsDomain = row.requires.some(({ name }) => name === 'name');
  if (!needsDomain || findTransferMethod(row, offer) !== EIP3009) return [];
  const domain = findOfferAsset(offer)?.domain ?? null;
  if (domain === null) return [];
  return (['name', 'version'] as const).flatMap((member): readonly OfferFault[] => {
    const value = jsonObject(extra)[member];
    if (value === domain[member]) return [];
    const why = `is not ${JSON.stringify(domain[member])}`;
    return [{ kind: 'wrong-domain', pointer: `${pointer}/extra/${member}`, value, why }];
  });
}

function hasForm(value: JsonValue | undefined, form: ExtraForm, offer: Offer): boolean {
  if (typeof form === 'object') return hasObjectForm(value, form, offer);
  switch (form) {
    case 'true':
      return value === true;
    case 'false':
      return value === false;
    case 'not-true':
      return value !== true;
    case 'absent':
      return (value ?? null) === null;
    case 'object':
      return value !== undefined && isJsonObject(value);
    case 'memo':
      return typeof value === 'string' && Buffer.byteLength(value, 'utf8') <= MAX_MEMO_BYTES;
    case 'text':
      return typeof value === 'string' && value !== '';
    default:
      return isAddress(value, form, offer);
  }
}

function hasObjectForm(
  value: JsonValue | undefined,
  form: Exclude<ExtraForm, string>,
  offer: Offer,
): boolean {
  if ('bits' in form) {
    const { bits, from = 0 } = form;
    return Number.isInteger(value) && Number(value) >= from && Number(value) < 2 ** bits;
  }
  if ('least' in form) {
    if (typeof value !== 'number' || !Number.isInteger(value)) return false;
    const least = Math.max(form.least, findCoveredTimeout(form, offer) ?? 0);
    return value >= least && value <= form.most;
  }
  if (typeof value !== 'string') return false;
  if ('hexDigits' in form) return value.length === form.hexDigits && /^[0-9a-f]+$/.test(value);
  if (form.ignoresCase !== true) return form.oneOf.includes(value);
  return form.oneOf.some((text) => text.toLowerCase() === value.toLowerCase());
}

function isAddress(
  value: JsonValue | undefined,
  form: 'address' | 'non-zero-address' | 'zero-address',
  { network }: Offer,
): boolean {
  if (typeof value !== 'string' || value === '') return false;
  const addressForm = classifyAddressShape(String(network), value, 'account');
  if (form === 'zero-address') return addressForm === 'zero';
  return addressForm !== 'malformed' && (form === 'address' || addressForm !== 'zero');
}
