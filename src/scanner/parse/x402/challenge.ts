import { isDeepStrictEqual } from 'node:util';
import { isSameHostname, type Origin } from '../../guard/origin.ts';
import type { HttpData } from '../../model/observation.ts';
import type { Probe, ResourceObservation } from '../../model/observations.ts';
import {
  isJsonList,
  isJsonObject,
  type JsonObject,
  type JsonReading,
  type JsonValue,
  jsonObject,
  parseJson,
} from '../json/json.ts';
import { type HeaderReading, readPaymentHeader } from './payment-header.ts';

/** The member of an offer that holds the amount, by the version of the challenge. */
export const AMOUNT_MEMBERS = { 1: 'maxAmountRequired', 2: 'amount' } as const;

/** One entry of `accepts`, with the same names for both versions. The values are unchanged and unchecked. */
export type Offer = {
  readonly scheme: JsonValue | undefined;
  readonly network: JsonValue | undefined;
  readonly amount: JsonValue | undefined;
  readonly asset: JsonValue | undefined;
  readonly payTo: JsonValue | undefined;
  readonly maxTimeoutSeconds: JsonValue | undefined;
  readonly extra: JsonValue | undefined;
  /** JSON pointer: "/accepts/0". */
  readonly pointer: string;
  readonly entry: JsonValue;
};

export type Challenge = {
  readonly version: 1 | 2;
  readonly where: 'header' | 'body';
  readonly value: JsonObject;
  /** Empty if `accepts` is missing or is not a list. */
  readonly offers: readonly Offer[];
  /** v2 `resource.url`, v1 `accepts[0].resource`. */
  readonly resourceUrl: string | null;
  /** v2 `resource.description`, v1 `accepts[0].description`. It is not trimmed, because checks measure its length. */
  readonly description: string | null;
};

/** `pointer` is a JSON pointer into the challenge. */
export type ChallengeMember = { readonly pointer: string; readonly value: JsonValue | undefined };

export type ChallengeReading = {
  readonly header: HeaderReading;
  readonly body: JsonReading;
  /** The header's challenge, or else the body's challenge; null without any. All checks except P4 judge it. */
  readonly challenge: Challenge | null;
};

/** A resource that answered with a challenge. P3 to P8 judge this answer. */
export type ChallengedResource = {
  readonly resource: ResourceObservation;
  readonly probe: Probe;
  readonly answer: HttpData;
  readonly reading: ChallengeReading & { readonly challenge: Challenge };
  /** The challenge to the second probe of the same method; null if there is none. */
  readonly second: Challenge | null;
};

/** Prefers the header, because the official client reads a v2 challenge only from it. The body is often `{}`. */
export function readChallenge(answer: Pick<HttpData, 'headers' | 'body'>): ChallengeReading {
  const header = readPaymentHeader(answer);
  const body = parseJson(answer.body);
  const challenge =
    (header.state === 'ok' ? parseChallenge(header.value, 'header') : null) ??
    (body.ok ? parseChallenge(body.value, 'body') : null);
  return { header, body, challenge };
}

/**
 * A challenge is an object with a list `accepts`, which may be empty. If the version is unknown or missing, the members
 * are read by the names of version 2, so that checks can name their faults.
 */
export function parseChallenge(value: JsonValue, where: 'header' | 'body'): Challenge | null {
  if (!isJsonObject(value) || !isJsonList(value['accepts'])) return null;
  const isV1 = value['x402Version'] === 1;
  // Version 1 describes the resource in each offer.
  const resource = jsonObject(isV1 ? value['accepts'][0] : value['resource']);
  return {
    version: isV1 ? 1 : 2,
    where,
    value,
    offers: readOffers(value['accepts'], AMOUNT_MEMBERS[isV1 ? 1 : 2]),
    resourceUrl: toTextOrNull(resource[isV1 ? 'resource' : 'url']),
    description: toTextOrNull(resource['description']),
  };
}

/**
 * Finds a member that makes the whole challenge invalid: an unknown version, or a resource without a URL. We count such
 * a challenge as refused, even if some client signs it. An absent resource is not a fault: clients sign without it.
 */
export function findRefusedMember({ value, version }: Challenge): ChallengeMember | null {
  const statedVersion = value['x402Version'];
  if (statedVersion !== version) return { pointer: '/x402Version', value: statedVersion };
  const resource = value['resource'] ?? null;
  if (version === 1 || resource === null) return null;
  if (!isJsonObject(resource)) return { pointer: '/resource', value: resource };
  const { url } = resource;
  return typeof url === 'string' ? null : { pointer: '/resource/url', value: url };
}

/** A path or a query. A URL that begins with a host name has lost its scheme and is not relative. */
const RELATIVE_URL = /^(?:\.{0,2}\/|\?|#|[-\w~%]+(?:[/?#]|$))/;

/** Outcomes of check P3. */
export type ResourceUrlFault = 'bad-resource-url' | 'relative-url' | 'other-host' | 'http-url';

/**
 * Finds why the URL is not the address of a resource of this origin; null if it is. A resource that is sold over HTTP has
 * an https URL, or http if the origin has http.
 */
export function findResourceUrlFault(
  text: string,
  origin: Pick<Origin, 'url' | 'scheme' | 'hostname'>,
  isTool: boolean,
): ResourceUrlFault | null {
  const isRelative = RELATIVE_URL.test(text);
  const url = URL.parse(text, isRelative ? origin.url : undefined);
  if (url?.protocol === 'mcp:') {
    // A tool has "mcp://tool/NAME", as the SDKs write it, or the address of the server. Over HTTP no SDK writes this URL.
    const isOwn = url.host === 'tool' || url.hostname === origin.hostname;
    return isTool && isOwn ? null : 'other-host';
  }
  if (url?.protocol !== 'https:' && url?.protocol !== 'http:') return 'bad-resource-url';
  if (!isSameHostname(url.hostname, origin.hostname)) return 'other-host';
  if (isRelative) return 'relative-url';
  return url.protocol === 'https:' || origin.scheme === 'http' ? null : 'http-url';
}

function readOffers(accepts: readonly JsonValue[], amountName: string): readonly Offer[] {
  return accepts.map((entry, index) => {
    const members = jsonObject(entry);
    const { scheme, network, asset, payTo, maxTimeoutSeconds, extra } = members;
    const terms = { scheme, network, amount: members[amountName], asset, payTo };
    return { ...terms, maxTimeoutSeconds, extra, pointer: `/accepts/${index}`, entry };
  });
}

/** Keeps the empty text, because checks judge it. */
function toTextOrNull(value: JsonValue | undefined): string | null {
  return typeof value === 'string' ? value : null;
}

type Finding<Name> = readonly [name: Name, text: string, fix?: string | undefined];

/**
 * If header and body hold challenges that differ, says in each finding that it is about the header. Clients read the
 * header, but sellers often look only at the body.
 */
export function nameCopy<Name extends string>(
  { header, body, challenge }: ChallengeReading,
  findings: readonly Finding<Name>[],
): readonly Finding<Name>[] {
  if (challenge?.where !== 'header' || header.state !== 'ok' || !body.ok) return findings;
  const other = parseChallenge(body.value, 'body');
  if (other === null || isDeepStrictEqual(withoutError(challenge), withoutError(other))) {
    return findings;
  }
  return findings.map(([name, text, fix]) => [
    name,
    `in its header, which differs from its body: ${text}`,
    fix,
  ]);
}

/** The reason for the 402 may be missing in one copy. */
function withoutError({ value: { error: _, ...members } }: Challenge): JsonObject {
  return members;
}

/** A 402 with an empty `accepts` and the extension of specs/extensions/sign-in-with-x.md asks for no money. */
export function isSignInOnly({ value }: Pick<Challenge, 'value'>): boolean {
  const { accepts } = value;
  if (!isJsonList(accepts) || accepts.length > 0) return false;
  return isJsonObject(jsonObject(value['extensions'])['sign-in-with-x']);
}
