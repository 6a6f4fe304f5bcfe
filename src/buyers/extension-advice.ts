import {
  type JsonObject,
  type JsonValue,
  jsonList,
  jsonObject,
  parseJson,
} from '../parse/json/json.ts';
import type { Kit } from '../parse/kit/kit.ts';
import type { Challenge } from '../parse/x402/challenge.ts';
import { isSameAddress } from '../parse/x402/namespaces.ts';
import { toCaip2 } from '../parse/x402/networks.ts';
import { MAX_OFFERS } from './list-challenges.ts';

const SIGNED_TERMS = ['scheme', 'network', 'asset', 'payTo', 'amount'] as const;
const MAX_SIGNATURE_CHARS = 16_384;

/**
 * Finds signed offers whose terms differ from their `accepts` entry; they MUST be equal
 * (specs/extensions/extension-offer-and-receipt.md).
 */
export function differingOffers(
  extensions: JsonObject,
  { offers }: Challenge,
  kit: Kit,
): readonly string[] {
  const info = jsonObject(jsonObject(extensions['offer-receipt'])['info']);
  return jsonList(info['offers'])
    .slice(0, MAX_OFFERS)
    .flatMap((value, index) => {
      const signed = jsonObject(value);
      const payload = readPayload(signed);
      const offer = offers[toOfferIndex(signed, index)];
      if (payload === null || offer === undefined) return [];
      return SIGNED_TERMS.filter(
        (name) => payload[name] !== undefined && !isSame(payload[name], offer[name]),
      ).map(
        (name) =>
          `/extensions/offer-receipt/info/offers/${index}: ${name} is ${kit.show(payload[name])}, ${offer.pointer} has ${kit.show(offer[name])}`,
      );
    });
}

function toOfferIndex({ acceptIndex }: JsonObject, position: number): number {
  return typeof acceptIndex === 'number' ? acceptIndex : position;
}

/** An EIP-712 offer has its payload beside the signature. A JWS has it inside. */
function readPayload({ payload, signature }: JsonObject): JsonObject | null {
  if (payload !== undefined) return jsonObject(payload);
  if (typeof signature !== 'string' || signature.length > MAX_SIGNATURE_CHARS) return null;
  const [, body, proof] = signature.split('.', 3);
  if (body === undefined || proof === undefined) return null;
  const json = parseJson(Buffer.from(body, 'base64url').toString('utf8'));
  return json.ok ? jsonObject(json.value) : null;
}

/** Ignores the case of EVM addresses, and version 1's own names of networks. */
function isSame(one: JsonValue | undefined, other: JsonValue | undefined): boolean {
  if (typeof one !== 'string' || typeof other !== 'string') return one === other;
  return isSameAddress(toCaip2(one), toCaip2(other));
}

/**
 * Finds sign-in messages for other hosts. A wallet signs the message's domain and URI, which MUST be those of the host
 * that sends it (specs/extensions/sign-in-with-x.md).
 */
export function signInsElsewhere(
  extensions: JsonObject,
  hostname: string,
  kit: Kit,
): readonly string[] {
  const info = jsonObject(jsonObject(extensions['sign-in-with-x'])['info']);
  const { domain, uri } = info;
  const at = '/extensions/sign-in-with-x/info';
  const advice: string[] = [];
  if (typeof domain === 'string' && parseHost(`https://${domain}`) !== hostname) {
    advice.push(`${at}/domain: ${kit.show(domain)}`);
  }
  // A relative path is on the host that sends it.
  if (typeof uri === 'string' && !uri.startsWith('/') && parseHost(uri) !== hostname) {
    advice.push(`${at}/uri: ${kit.show(uri)}`);
  }
  return advice;
}

function parseHost(address: string): string | null {
  return URL.parse(address)?.hostname ?? null;
}
