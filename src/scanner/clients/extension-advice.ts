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
 * Finds signed offers whose terms differ from their `accepts` entry. The terms MUST be equal
 * (specs/extensions/extension-offer-and-receipt.md).
 */
export function findDifferingOffers(
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
      const { acceptIndex } = signed;
      const offer = offers[typeof acceptIndex === 'number' ? acceptIndex : index];
      if (payload === null || offer === undefined) return [];
      return SIGNED_TERMS.filter(
        (name) => payload[name] !== undefined && !isSameTerm(payload[name], offer[name]),
      ).map(
        (name) =>
          `/extensions/offer-receipt/info/offers/${index}: ${name} is ${kit.show(payload[name])}, ${offer.pointer} has ${kit.show(offer[name])}`,
      );
    });
}

/** An offer signed by EIP-712 has its payload beside the signature. A JWS contains the payload. */
function readPayload({ payload, signature }: JsonObject): JsonObject | null {
  if (payload !== undefined) return jsonObject(payload);
  if (typeof signature !== 'string' || signature.length > MAX_SIGNATURE_CHARS) return null;
  const [, body, jwsSignature] = signature.split('.', 3);
  if (body === undefined || jwsSignature === undefined) return null;
  const json = parseJson(Buffer.from(body, 'base64url').toString('utf8'));
  return json.ok ? jsonObject(json.value) : null;
}

/** Ignores the case of EVM addresses. `toCaip2` converts a network's name of version 1, and leaves other terms. */
function isSameTerm(signed: JsonValue | undefined, offered: JsonValue | undefined): boolean {
  if (typeof signed !== 'string' || typeof offered !== 'string') return signed === offered;
  return isSameAddress(toCaip2(signed), toCaip2(offered));
}

/**
 * Finds sign-in messages for other hosts. A wallet signs the domain and the URI of the message. Both MUST name the host
 * that sends the message (specs/extensions/sign-in-with-x.md).
 */
export function findForeignSignIns(
  extensions: JsonObject,
  hostname: string,
  kit: Kit,
): readonly string[] {
  const { domain, uri } = jsonObject(jsonObject(extensions['sign-in-with-x'])['info']);
  const pointer = '/extensions/sign-in-with-x/info';
  const advice: string[] = [];
  if (typeof domain === 'string' && parseHost(`https://${domain}`) !== hostname) {
    advice.push(`${pointer}/domain: ${kit.show(domain)}`);
  }
  // A relative path is on the sending host.
  if (typeof uri === 'string' && !uri.startsWith('/') && parseHost(uri) !== hostname) {
    advice.push(`${pointer}/uri: ${kit.show(uri)}`);
  }
  return advice;
}

function parseHost(address: string): string | null {
  return URL.parse(address)?.hostname ?? null;
}
