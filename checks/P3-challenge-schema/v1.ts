/** P3: each challenge is valid x402 v2, so that official clients can sign it. Rule: README.md. */
import {
  defineCheck,
  type Found,
  fail,
  pass,
  type Seen,
  warn,
  worstOf,
} from '../../src/engine/define-check.ts';
import type { JsonValue } from '../../src/parse/json/json.ts';
import type { Kit } from '../../src/parse/kit/kit.ts';
import type { Challenge, Offer } from '../../src/parse/x402/challenge.ts';

/** Schemes of the x402 packages 2.27; others are for clients of their own. */
const SCHEMES: ReadonlySet<unknown> = new Set([
  'exact',
  'upto',
  'batch-settlement',
  'auth-capture',
]);
const CAIP2 = /^[-a-z0-9]{3,8}:[-_a-zA-Z0-9]{1,32}$/;
const V1_NETWORK = /^[a-z][-a-z0-9]*$/;
const AMOUNT = /^[1-9][0-9]{0,77}$/;

const OUTCOMES = {
  'wrong-version': fail('Set x402Version to the number 2.'),
  'v1-names': fail('Use the names of version 2: amount, CAIP-2 networks, resource beside accepts.'),
  'no-accepts': fail('Offer at least one way to pay in accepts.'),
  'bad-resource-url': fail('Set resource.url to the absolute https URL of this resource.'),
  'bad-field': fail('Write amount in base units, network as CAIP-2, asset and payTo as addresses.'),
  'no-domain': fail("Add the token's EIP-712 name and version to extra, or let the SDK price it."),
  'wrong-domain': fail("Set extra.name and extra.version to the token's own EIP-712 domain."),
  'no-known-scheme': fail('Offer the scheme "exact" too, which every client knows.'),
  'version-1': warn('Move to x402 version 2: @x402/express or @x402/next, or x402 2.x for Python.'),
  'unknown-scheme': warn(
    'Keep a valid "exact" offer: clients skip a scheme that they do not know.',
  ),
  'relative-url': warn('Write resource.url with its scheme and host.'),
  'http-url': warn(
    'Trust the proxy: Express "trust proxy", uvicorn --proxy-headers with its address.',
  ),
  valid: pass('Keep the challenge as the SDK writes it.'),
};
type Kind = keyof typeof OUTCOMES;
type Flaw = Found<Kind>;
type Place = readonly [kind: Kind, pointer: string, value: JsonValue | undefined];

export default defineCheck({
  id: 'P3',
  version: 1,
  says: {
    right: 'Every challenge is valid x402 version 2.',
    wrong: 'Some challenges are not valid x402 version 2, so clients cannot sign them.',
  },
  needs: ['origin', 'resources'],
  requires: ['P1', 'P2'],
  outcomes: OUTCOMES,

  evaluate({ origin, resources }, kit) {
    return worstOf(
      OUTCOMES,
      resources,
      kit,
      ({ reading: { challenge } }) =>
        [...inspectTop(challenge, origin), ...inspectOffers(challenge, kit)].map(
          ([kind, pointer, value]): Flaw => [kind, `${pointer}: ${kit.show(value)}`],
        ),
      (count) => ['valid', `${count}: valid version 2`],
    );
  },
});

function inspectTop(challenge: Challenge, origin: Seen<'origin'>['origin']): readonly Place[] {
  const { version, value, offers, resourceUrl } = challenge;
  const found: Place[] = [];
  const stated = value['x402Version'];
  if (version === 1) found.push(['version-1', '/x402Version', stated]);
  else if (stated !== 2) found.push(['wrong-version', '/x402Version', stated]);
  if (offers.length === 0) found.push(['no-accepts', '/accepts', value['accepts']]);
  const kind = version === 1 ? null : judgeUrl(resourceUrl ?? '', origin);
  if (kind !== null) found.push([kind, '/resource/url', resourceUrl ?? undefined]);
  return found;
}

function judgeUrl(written: string, origin: Seen<'origin'>['origin']): Kind | null {
  if (written.startsWith('/')) return 'relative-url';
  const url = URL.parse(written);
  if (url?.protocol === 'https:') return null;
  if (url?.protocol !== 'http:' || url.hostname !== origin.hostname) return 'bad-resource-url';
  return origin.scheme === 'http' ? null : 'http-url';
}

function inspectOffers({ version, offers }: Challenge, kit: Kit): readonly Place[] {
  const isUnknown = ({ scheme }: Offer) => typeof scheme === 'string' && !SCHEMES.has(scheme);
  const unknown = offers.every(isUnknown) ? 'no-known-scheme' : 'unknown-scheme';
  return offers.flatMap((offer): readonly Place[] => {
    const { pointer, scheme } = offer;
    if (
      version === 2 &&
      kit.at(offer.entry, '/maxAmountRequired') !== undefined &&
      offer.amount === undefined
    ) {
      return [
        ['v1-names', `${pointer}/maxAmountRequired`, kit.at(offer.entry, '/maxAmountRequired')],
      ];
    }
    const fields = inspectFields(offer, version, kit);
    if (fields.length > 0) return fields;
    if (isUnknown(offer)) return [[unknown, `${pointer}/scheme`, scheme]];
    return inspectDomain(offer, kit);
  });
}

function inspectFields(offer: Offer, version: 1 | 2, kit: Kit): readonly Place[] {
  const { network, asset, payTo } = offer;
  const on = typeof network === 'string' ? network : '';
  const isAddress = (value: JsonValue | undefined) =>
    isText(value) && kit.address(on, value) !== 'malformed';
  const timeout = offer.maxTimeoutSeconds;
  const bad: readonly [isRight: boolean, member: string, value: JsonValue | undefined][] = [
    [isText(offer.scheme), 'scheme', offer.scheme],
    [(version === 1 ? V1_NETWORK : CAIP2).test(on), 'network', network],
    [
      typeof offer.amount === 'string' && AMOUNT.test(offer.amount),
      version === 1 ? 'maxAmountRequired' : 'amount',
      offer.amount,
    ],
    [isAddress(asset), 'asset', asset],
    [isAddress(payTo), 'payTo', payTo],
    [Number.isInteger(timeout) && Number(timeout) > 0, 'maxTimeoutSeconds', timeout],
  ];
  return bad
    .filter(([isRight]) => !isRight)
    .map(([, member, value]) => ['bad-field', `${offer.pointer}/${member}`, value]);
}

/** EIP-712 domain of "exact" on EVM networks; Permit2 signs under a domain of its own. */
function inspectDomain(offer: Offer, kit: Kit): readonly Place[] {
  const { scheme, network, asset, extra, pointer } = offer;
  if (scheme !== 'exact' || !isText(network) || !isText(asset)) return [];
  if (!kit.caip2(network).startsWith('eip155:')) return [];
  if (kit.at(extra, '/assetTransferMethod') === 'permit2') return [];
  const domain = kit.asset(network, asset)?.domain ?? null;
  for (const member of ['name', 'version'] as const) {
    const value = kit.at(extra, `/${member}`);
    if (!isText(value)) return [['no-domain', `${pointer}/extra/${member}`, value]];
    if (domain !== null && value !== domain[member]) {
      return [['wrong-domain', `${pointer}/extra/${member}`, value]];
    }
  }
  return [];
}

function isText(value: JsonValue | undefined): value is string {
  return typeof value === 'string' && value !== '';
}
