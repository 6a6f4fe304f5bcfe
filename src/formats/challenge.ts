/** The 402 challenge: PAYMENT-REQUIRED header first, body as fallback; v2 and v1. */
import type { HttpData } from '../probe/observation.ts';
import type { Probe, ResourceObservation } from '../probe/observations.ts';
import type { JsonObject, JsonReading, JsonValue } from './json.ts';

export type HeaderReading =
  | { readonly state: 'absent' }
  | { readonly state: 'ok'; readonly raw: string; readonly value: JsonObject }
  | {
      readonly state:
        | 'repeated'
        | 'not-base64'
        | 'base64url'
        | 'raw-json'
        | 'not-utf8'
        | 'not-json'
        | 'not-an-object';
      readonly raw: string;
      readonly detail: string;
    };

/** One way to pay, by one set of names whatever the version; `unknown` kinds of values stay as sent. */
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
  /** Empty where `accepts` is missing or no list. */
  readonly offers: readonly Offer[];
  /** v2 `resource.url`, v1 `accepts[0].resource`. */
  readonly resourceUrl: string | null;
  /** v2 `resource.description`, v1 `accepts[0].description`; measured raw. */
  readonly description: string | null;
};

export type ChallengeReading = {
  readonly header: HeaderReading;
  readonly body: JsonReading;
  /** What all checks but P4 judge; null where neither header nor body holds a challenge. */
  readonly challenge: Challenge | null;
};

/** A resource that challenged, with the answer that P3 to P8 judge. */
export type ChallengedResource = {
  readonly resource: ResourceObservation;
  readonly probe: Probe;
  readonly answer: HttpData;
  readonly reading: ChallengeReading & { readonly challenge: Challenge };
  /** The second probe's challenge, where there was one. */
  readonly second: Challenge | null;
};
