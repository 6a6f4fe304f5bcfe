/**
 * Faults of an offer, their evidence, and the fix of each. A fix is a clause without a full stop, such as
 * 'set extra.name to "USD Coin"'. Every word of a fix comes from our tables; the seller's text only chooses a row.
 */
import { type JsonValue, showAddress, showJson } from '../json/json.ts';
import { parseAmount } from './amount.ts';
import { findOfferAsset, type KnownAsset, listKnownAssets } from './assets.ts';
import { AMOUNT_MEMBERS, type Offer } from './challenge.ts';
import { isEvmAddress } from './namespaces.ts';
import { isKnownNetwork, suggestNetwork, toCaip2, toNetworkName } from './networks.ts';
import type { ExtraForm } from './scheme-row.ts';
import { findSchemeRow } from './schemes.ts';

/**
 * `bad-entry`: the entry of accepts is not an object. `v1-names`: an offer of version 2 has `maxAmountRequired` of
 * version 1. `bad-field`: a member has a wrong form. `out-of-range`: the network or the scheme cannot hold the number or
 * the memo. `bad-recipient`: payTo is zero or the asset. `wrong-chain`: the asset is a known token of another network.
 * `no-domain`: `extra` lacks `name` or `version` of the EIP-712 domain. `missing-member`: `extra` lacks another member
 * of the scheme, or the member has a wrong form. `wrong-domain`: the EIP-712 domain is not that of the known asset.
 */
export type OfferFault = {
  readonly kind:
    | 'bad-entry'
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
  /** The broken rule, if kind and value do not show it: "is too long: the most is 60". */
  readonly why?: string;
};

const MAX_ENTRY_CHARS = 40;
const TIMEOUT_FIX = 'set maxTimeoutSeconds between 6 and 86400';
const NAMES_FIX = 'use the names of version 2: amount in place of maxAmountRequired';
const DOMAIN_FIX = "set extra.name and extra.version to the token's own EIP-712 domain";

/** Formats the value of a fault for evidence. Blanks in an address become escapes. */
export function showFault({ kind, value }: OfferFault): string {
  if (kind === 'bad-entry') return showEntry(value);
  const isDomain = kind === 'no-domain' || kind === 'wrong-domain';
  return isDomain ? showJson(value) : showAddress(value);
}

/** Formats a fault for evidence: `/accepts/0/payTo: "0x0…" is zero`. */
export function describeFault(fault: OfferFault): string {
  const { kind, pointer, why } = fault;
  if (kind === 'bad-entry') return `${pointer} is ${showFault(fault)}, not an object`;
  return `${pointer}: ${showFault(fault)}${why === undefined ? '' : ` ${why}`}`;
}

function showEntry(value: JsonValue | undefined): string {
  if (typeof value === 'string') return `the text ${showJson(value, MAX_ENTRY_CHARS)}`;
  if (Array.isArray(value)) return 'a list';
  return value === null ? 'empty (null)' : `the value ${showJson(value, MAX_ENTRY_CHARS)}`;
}

/** Joins the fixes of all faults of one offer: 'set payTo to your own address; set scheme to "exact"'. */
export function fixFaults(faults: readonly OfferFault[], offer: Offer, version: 1 | 2): string {
  return [...new Set(faults.map((fault) => fixFault(fault, offer, version)))].join('; ');
}

function fixFault(fault: OfferFault, offer: Offer, version: 1 | 2): string {
  // "/accepts/0/extra/name" becomes "extra.name".
  const member = fault.pointer.slice(offer.pointer.length + 1).replace('/', '.');
  switch (fault.kind) {
    case 'bad-entry':
      return `put ${listMembers(version)} into an object in accepts`;
    case 'v1-names':
      return parseAmount(fault.value) === null
        ? `${NAMES_FIX}; ${fixField('amount', offer, version)}`
        : NAMES_FIX;
    case 'bad-recipient':
      return 'set payTo to your own address: money sent elsewhere is lost';
    case 'wrong-chain':
      return fixChain(offer, version);
    case 'out-of-range':
      return fixRange(member, fault, offer);
    case 'no-domain':
    case 'wrong-domain':
      return fixDomain(offer);
    case 'missing-member':
      return fixMember(member, offer);
    case 'bad-field':
      return fixField(member, offer, version);
  }
}

/** Lists the members of an offer, with the names that the version gives them. */
function listMembers(version: 1 | 2): string {
  return `scheme, network, ${AMOUNT_MEMBERS[version]}, asset, payTo and maxTimeoutSeconds`;
}

function fixField(member: string, offer: Offer, version: 1 | 2): string {
  const asset = findMeantAsset(offer);
  switch (member) {
    case 'scheme':
      return 'set scheme to "exact"';
    case 'network':
      return fixNetwork(offer.network, version);
    case 'asset':
      return asset === null
        ? 'set asset to the address of the token'
        : `set asset to the address of ${nameAsset(asset)}`;
    case 'payTo':
      return `set payTo to your address on ${nameNetwork(offer.network) ?? 'the network'}`;
    case 'maxTimeoutSeconds':
      return TIMEOUT_FIX;
    case 'extra.paymentFlow':
      return `set extra.paymentFlow to ${quoteAll(findSchemeRow(offer.scheme, offer.network)?.flows)}`;
    default:
      return asset === null
        ? `write ${member} in base units, as text`
        : `write ${member} in base units, as text: 1 ${asset.symbol} is "1${'0'.repeat(asset.decimals)}"`;
  }
}

export function fixNetwork(network: JsonValue | undefined, version: 1 | 2): string {
  const meant = suggestNetwork(network, version);
  if (meant !== null) return `write network as "${meant}"`;
  return version === 1
    ? 'write network by its name in version 1, such as "base"'
    : 'write network as a CAIP-2 id, such as "eip155:8453" for Base';
}

/** Returns the fix of an unknown id such as "evm:8453" if a known network is meant; undefined if none is meant. */
export function fixUnknownNetwork(
  network: JsonValue | undefined,
  version: 1 | 2,
): string | undefined {
  return suggestNetwork(network, version) === null ? undefined : fixNetwork(network, version);
}

/** Offers two fixes: the token with the same symbol on the offer's network, or the network of the offer's token. */
function fixChain(offer: Offer, version: 1 | 2): string {
  const token = findTokenByAddress(offer);
  if (token === null) return 'set asset to the address of the token on the network of the offer';
  const home = suggestNetwork(token.network, version);
  const other = listKnownAssets(offer.network).find(({ symbol }) => symbol === token.symbol);
  const fixes = [
    ...(other === undefined ? [] : [`set asset to the address of ${nameAsset(other)}`]),
    ...(home === null ? [] : [`set network to "${home}", where this ${token.symbol} is`]),
  ];
  return fixes.length === 0 ? `offer ${token.symbol} on its own network` : fixes.join(', or ');
}

function findTokenByAddress({ asset }: Offer): KnownAsset | null {
  if (typeof asset !== 'string') return null;
  const address = asset.toLowerCase();
  return listKnownAssets().find((known) => known.asset.toLowerCase() === address) ?? null;
}

function fixDomain(offer: Offer): string {
  // In place of a symbol, another fix names the address of the token that is meant.
  const asset = isEvmAddress(offer.asset) ? findOfferAsset(offer) : findMeantAsset(offer);
  if (asset?.domain == null) return DOMAIN_FIX;
  const { name, version } = asset.domain;
  return `set extra.name to "${name}" and extra.version to "${version}", the EIP-712 domain of ${nameAsset(asset)}`;
}

function fixRange(member: string, { value }: OfferFault, offer: Offer): string {
  const form = findForm(member, offer);
  if (typeof form === 'object' && 'least' in form) return fixForm(form, member);
  if (form === 'memo') return `shorten ${member} to what the network can carry`;
  // Every other range begins at 0 or 1.
  const verb = typeof value === 'number' && value <= 0 ? 'raise' : 'lower';
  return `${verb} ${member} to what the network can carry`;
}

function fixMember(member: string, offer: Offer): string {
  const form = findForm(member, offer);
  return form === undefined ? `set ${member}` : fixForm(form, member);
}

/** Returns the form that the scheme requires of a member of `extra`; undefined for any other member. */
function findForm(member: string, { scheme, network }: Offer): ExtraForm | undefined {
  const row = findSchemeRow(scheme, network);
  return row?.requires.find(({ name }) => `extra.${name}` === member)?.form;
}

function fixForm(form: ExtraForm, member: string): string {
  if (form === 'absent') return `leave out ${member}`;
  if (form === 'true' || form === 'false') return `set ${member} to ${form}`;
  if (typeof form === 'object' && 'oneOf' in form) {
    // A fix prints no address. The evidence has the valid ones.
    const isContract = form.oneOf.some((text) => text.startsWith('0x'));
    return `set ${member} to ${isContract ? 'a contract of the specification' : quoteAll(form.oneOf)}`;
  }
  if (typeof form === 'object' && 'least' in form)
    return `set ${member} between ${form.least} and ${form.most}`;
  return `set ${member} to the value that your facilitator names`;
}

/**
 * Finds the token that the asset names on the network of the offer: by its symbol, its name, or a text with its address,
 * such as a CAIP-19 id. If it names none, returns the first known token of the network; null for an unknown network.
 */
function findMeantAsset(offer: Offer): KnownAsset | null {
  const { network, asset } = offer;
  const meantNetwork = suggestNetwork(network, 2) ?? network;
  if (typeof meantNetwork !== 'string') return null;
  const tokens = listKnownAssets(meantNetwork);
  const text = typeof asset === 'string' ? asset.toLowerCase() : '';
  const isMeant = (token: KnownAsset) =>
    [token.symbol, token.domain?.name].some((name) => name?.toLowerCase() === text.trim()) ||
    text.includes(token.asset.toLowerCase());
  return tokens.find(isMeant) ?? tokens[0] ?? null;
}

function nameAsset({ symbol, network }: KnownAsset): string {
  return `${symbol} on ${toNetworkName(network)}`;
}

function nameNetwork(network: JsonValue | undefined): string | null {
  const id = suggestNetwork(network, 2) ?? network;
  if (typeof id !== 'string' || !isKnownNetwork(id)) return null;
  return toNetworkName(toCaip2(id));
}

function quoteAll(texts: readonly string[] | null | undefined): string {
  return (texts ?? []).map((text) => `"${text}"`).join(' or ');
}
