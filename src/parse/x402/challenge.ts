import type { HttpData } from '../../model/observation.ts';
import type { Probe, ResourceObservation } from '../../model/observations.ts';
import {
  isJsonList,
  isJsonObject,
  type JsonObject,
  type JsonReading,
  type JsonValue,
  jsonList,
  jsonObject,
  parseJson,
} from '../json/json.ts';
import { type HeaderReading, readPaymentHeader } from './payment-header.ts';

export type { HeaderReading } from './payment-header.ts';

/** One payment option under common names for both versions; `unknown` values stay as sent. */
export type Offer = {
  readonly scheme: JsonValue | undefined;
  readonly network: JsonValue | undefined;
  /** v2 `amount`, v1 `maxAmountRequired`. */
  readonly amount: JsonValue | undefined;
  readonly asset: JsonValue | undefined;
  readonly payTo: JsonValue | undefined;
  readonly maxTimeoutSeconds: JsonValue | undefined;
  readonly extra: JsonValue | undefined;
  /** "/accepts/0" */
  readonly pointer: string;
  readonly entry: JsonValue;
};

export type Challenge = {
  readonly version: 1 | 2;
  readonly where: 'header' | 'body';
  readonly value: JsonObject;
  /** Empty when `accepts` is missing or no list. */
  readonly offers: readonly Offer[];
  /** v2 `resource.url`, v1 `accepts[0].resource`. */
  readonly resourceUrl: string | null;
  /** v2 `resource.description`, v1 `accepts[0].description`; not trimmed, because checks measure its length. */
  readonly description: string | null;
};

export type RefusedMember = { readonly pointer: string; readonly value: JsonValue | undefined };

export type ChallengeReading = {
  readonly header: HeaderReading;
  readonly body: JsonReading;
  /** The challenge that all checks but P4 judge; null when header and body hold none. */
  readonly challenge: Challenge | null;
};

/** A resource that challenged, with the answer that P3 to P8 judge. */
export type ChallengedResource = {
  readonly resource: ResourceObservation;
  readonly probe: Probe;
  readonly answer: HttpData;
  readonly reading: ChallengeReading & { readonly challenge: Challenge };
  /** The second probe's challenge, if there was one. */
  readonly second: Challenge | null;
};

/** The official client reads a v2 challenge only from the header; its body may be `{}`. */
export function readChallenge(answer: HttpData): ChallengeReading {
  const header = readPaymentHeader(answer);
  const body = parseJson(answer.body);
  const challenge =
    (header.state === 'ok' ? parseChallenge(header.value, 'header') : null) ??
    (body.ok ? parseChallenge(body.value, 'body') : null);
  return { header, body, challenge };
}

/**
 * A challenge is an object with a version or an `accepts` list. An unknown or missing version is read by
 * v2's names, so that its faults can be located.
 */
export function parseChallenge(value: JsonValue, where: 'header' | 'body'): Challenge | null {
  if (!isJsonObject(value)) return null;
  const version = value['x402Version'];
  if (version !== 1 && version !== 2 && !isJsonList(value['accepts'])) return null;
  return version === 1 ? challengeV1(value, where) : challengeV2(value, where);
}

/**
 * Finds the member for which a challenge counts as refused, whatever a client signs: a version that is
 * none, or a resource without an address. An absent resource is not one: clients sign without it.
 */
export function findRefusedMember({ value, version }: Challenge): RefusedMember | null {
  const stated = value['x402Version'];
  if (stated !== version) return { pointer: '/x402Version', value: stated };
  const resource = value['resource'] ?? null;
  if (version === 1 || resource === null) return null;
  if (!isJsonObject(resource)) return { pointer: '/resource', value: resource };
  const { url } = resource;
  return typeof url === 'string' ? null : { pointer: '/resource/url', value: url };
}

function challengeV2(value: JsonObject, where: 'header' | 'body'): Challenge {
  const resource = jsonObject(value['resource']);
  return {
    version: 2,
    where,
    value,
    offers: readOffers(value, 'amount'),
    resourceUrl: stringOrNull(resource['url']),
    description: stringOrNull(resource['description']),
  };
}

function challengeV1(value: JsonObject, where: 'header' | 'body'): Challenge {
  const first = jsonObject(jsonList(value['accepts'])[0]);
  return {
    version: 1,
    where,
    value,
    offers: readOffers(value, 'maxAmountRequired'),
    resourceUrl: stringOrNull(first['resource']),
    description: stringOrNull(first['description']),
  };
}

function readOffers(value: JsonObject, amountName: string): readonly Offer[] {
  return jsonList(value['accepts']).map((entry, index) => {
    const members = jsonObject(entry);
    return {
      scheme: members['scheme'],
      network: members['network'],
      amount: members[amountName],
      asset: members['asset'],
      payTo: members['payTo'],
      maxTimeoutSeconds: members['maxTimeoutSeconds'],
      extra: members['extra'],
      pointer: `/accepts/${index}`,
      entry,
    };
  });
}

/** The empty text stays, because checks judge it. */
function stringOrNull(value: JsonValue | undefined): string | null {
  return typeof value === 'string' ? value : null;
}

const EXTENSION = 'sign-in-with-x';

/**
 * A 402 with an empty `accepts` and the sign-in extension (specs/extensions/sign-in-with-x.md) asks for
 * no money.
 */
export function isSignInOnly({ value }: Pick<Challenge, 'value'>): boolean {
  const { accepts } = value;
  if (!isJsonList(accepts) || accepts.length > 0) return false;
  return isJsonObject(jsonObject(value['extensions'])[EXTENSION]);
}
