import { type JsonValue, jsonObject, showAddress, showJson } from '../json/json.ts';
import { addressShape } from './address-form.ts';
import { parseAmount } from './amount.ts';
import { assetOfOtherNetwork, knownAsset } from './assets.ts';
import type { Challenge, Offer } from './challenge.ts';
import { NAMESPACES } from './namespaces.ts';
import {
  claimedNamespace,
  findNamespace,
  isPrintedNetwork,
  networkForm,
  networkName,
} from './networks.ts';
import {
  type ExtraForm,
  type ExtraMember,
  type SchemeRow,
  schemeRow,
  transferMethod,
} from './schemes.ts';

/**
 * `v1-names`: version 1's amount in version 2. `out-of-range`: a well-formed number that the network or
 * the scheme cannot carry. `bad-recipient`: zero, or the asset itself. `wrong-chain`: a known token of
 * another network. `missing-member`: `extra` lacks a member of the scheme other than its domain.
 * `wrong-domain`: a known asset under another EIP-712 domain than its own.
 */
export type OfferFault = {
  readonly kind:
    | 'v1-names'
    | 'bad-field'
    | 'out-of-range'
    | 'bad-recipient'
    | 'wrong-chain'
    | 'no-domain'
    | 'missing-member'
    | 'wrong-domain';
  readonly pointer: string;
  readonly value: JsonValue | undefined;
  /** The broken rule, when kind and value do not state it: "is USDC on Base, not here". */
  readonly why?: string;
};

const BASE_UNITS = /^[1-9][0-9]{0,77}$/;
const FLOWS: ReadonlySet<JsonValue | undefined> = new Set(['authorization', 'upfront', 'escrow']);
const DOMAIN_MEMBERS: ReadonlySet<string> = new Set(['name', 'version']);
const EIP3009 = 'eip3009';
/** MAX_MEMO_BYTES of @x402/svm; longer memos do not fit into a transaction. */
const MAX_MEMO_BYTES = 256;

/** Empty when an offer is sound, or its scheme or network is unknown. */
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
    [isTimeout(offer), 'maxTimeoutSeconds', offer.maxTimeoutSeconds],
    [isFlow(offer.extra), 'extra/paymentFlow', jsonObject(offer.extra)['paymentFlow']],
  ];
  const bad = fields
    .filter(([isRight]) => !isRight)
    .map(([, member, value]): OfferFault => {
      return { kind: 'bad-field', pointer: `${offer.pointer}/${member}`, value };
    });
  if (bad.length > 0) return bad;
  const wrong = [...rangeFaults(offer, amountName), ...partyFaults(offer)];
  return wrong.length > 0 ? wrong : extraFaults(offer);
}

/** Numbers out of range cannot be signed: they would be cut, or the client throws. */
function rangeFaults(offer: Offer, amountName: string): readonly OfferFault[] {
  const { amount, maxTimeoutSeconds, pointer, network, scheme } = offer;
  const row = schemeRow(scheme, network);
  const namespace = typeof network === 'string' ? findNamespace(network) : null;
  const most = row?.maxAmount ?? (namespace === null ? undefined : NAMESPACES[namespace].maxAmount);
  const longest = row?.maxTimeoutSeconds ?? Number.MAX_SAFE_INTEGER;
  const found: OfferFault[] = [];
  const units = parseAmount(amount);
  if (most !== undefined && units !== null && units > most) {
    const why = `is too much: the most is ${most}`;
    found.push({ kind: 'out-of-range', pointer: `${pointer}/${amountName}`, value: amount, why });
  }
  if (Number(maxTimeoutSeconds) > longest) {
    const at = `${pointer}/maxTimeoutSeconds`;
    found.push({
      kind: 'out-of-range',
      pointer: at,
      value: maxTimeoutSeconds,
      why: `is too long: the most is ${longest}`,
    });
  }
  return found;
}

/** Checks the recipient and the token. */
function partyFaults({ network, asset, payTo, pointer }: Offer): readonly OfferFault[] {
  if (typeof network !== 'string' || typeof asset !== 'string' || typeof payTo !== 'string') {
    return [];
  }
  const found: OfferFault[] = [];
  const recipient = `${pointer}/payTo`;
  if (addressShape(network, payTo, 'account') === 'zero') {
    found.push({ kind: 'bad-recipient', pointer: recipient, value: payTo, why: 'is zero' });
  }
  if (isSameAddress(network, payTo, asset)) {
    found.push({ kind: 'bad-recipient', pointer: recipient, value: payTo, why: 'is the asset' });
  }
  const other = assetOfOtherNetwork(network, asset);
  if (other !== null) {
    const [there, here] = [networkName(other.network), networkName(network)];
    const why = `is ${other.symbol} on ${there} (${other.network}), not on ${here}`;
    found.push({ kind: 'wrong-chain', pointer: `${pointer}/asset`, value: asset, why });
  }
  return found;
}

function isSameAddress(network: string, one: string, other: string): boolean {
  if (claimedNamespace(network) !== 'eip155') return one === other;
  return one.toLowerCase() === other.toLowerCase();
}

/** Formats a fault's value for evidence; blanks in an address stay visible. */
export function showFault({ kind, value }: OfferFault): string {
  const isDomain = kind === 'no-domain' || kind === 'wrong-domain';
  return isDomain ? showJson(value) : showAddress(value);
}

/** Formats "/accepts/0/payTo: "0x0…" is zero" for evidence. */
export function describeFault(fault: OfferFault): string {
  const { pointer, why } = fault;
  return `${pointer}: ${showFault(fault)}${why === undefined ? '' : ` ${why}`}`;
}

/**
 * Returns the sound offers, because a bad or unknown offer beside a sound one is reported by P3 alone.
 * Without a sound one, it returns offers of unknown schemes and networks, and without these, all.
 */
export function judgedOffers({ offers, version }: Challenge): readonly Offer[] {
  const sound = offers.filter((offer) => offerFaults(offer, version).length === 0);
  const known = sound.filter(
    ({ scheme, network }) =>
      schemeRow(scheme, network) !== null && networkForm(network, version) === 'ok',
  );
  return [known, sound, offers].find((some) => some.length > 0) ?? [];
}

/** Accepts a positive number of base units, or the namespace's own amount format. */
export function isAmount({ amount, network, asset }: Offer): boolean {
  if (typeof amount !== 'string') return false;
  const namespace = typeof network === 'string' ? findNamespace(network) : null;
  const form = namespace === null ? undefined : NAMESPACES[namespace].amount;
  return (form?.(typeof asset === 'string' ? asset : '') ?? BASE_UNITS).test(amount);
}

function isTimeout({ maxTimeoutSeconds, network }: Offer): boolean {
  if (maxTimeoutSeconds === undefined && isPrintedNetwork(network)) return true;
  return Number.isInteger(maxTimeoutSeconds) && Number(maxTimeoutSeconds) > 0;
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
  return addressShape(on, value, role) !== 'malformed';
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
    .filter(({ name, isOptional }) => isOptional !== true || (extra[name] ?? null) !== null)
    .filter(({ name, form }) => !hasForm(extra[name], form, offer))
    .map(({ name, form }): OfferFault => {
      const isNumber = typeof form === 'object' && Number.isInteger(extra[name]);
      const kind = DOMAIN_MEMBERS.has(name) ? 'no-domain' : 'missing-member';
      return {
        kind: isNumber || form === 'memo' ? 'out-of-range' : kind,
        pointer: `${offer.pointer}/extra/${name}`,
        value: extra[name],
        ...(typeof form === 'object' ? { why: `does not fit into ${form.bits} bits` } : {}),
        ...(form === 'memo' ? { why: `is no text of at most ${MAX_MEMO_BYTES} bytes` } : {}),
      };
    });
  return missing.length > 0 ? missing : domainFaults(offer, row);
}

/** A token's contract fixes its domain; a signature under another one is invalid. */
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
  if (typeof form === 'object') {
    const { bits, from = 0 } = form;
    return Number.isInteger(value) && Number(value) >= from && Number(value) < 2 ** bits;
  }
  if (form === 'memo') {
    return typeof value === 'string' && Buffer.byteLength(value, 'utf8') <= MAX_MEMO_BYTES;
  }
  if (!isText(value)) return false;
  if (form === 'text') return true;
  const found = addressShape(String(network), value, 'account');
  return found !== 'malformed' && (form === 'address' || found !== 'zero');
}

function isText(value: JsonValue | undefined): value is string {
  return typeof value === 'string' && value !== '';
}
