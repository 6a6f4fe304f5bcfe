/**
 * Cached parsers and text helpers that checks use. Everything is pure: no network, no clock. One frozen
 * kit serves one scan on one worker.
 */

import type { HttpData } from '../../model/observation.ts';
import type {
  HttpObservation,
  PathAnswer,
  Probe,
  ResourceObservation,
  ResourceSet,
} from '../../model/observations.ts';
import type { JsonObject, JsonReading, JsonValue } from '../json/json.ts';
import type { OpenApiFacts, Operation } from '../openapi/openapi.ts';
import type { HtmlFacts } from '../text/html.ts';
import type { MarkdownFacts } from '../text/markdown.ts';
import type { RobotsFacts } from '../text/robots.ts';
import type { AmountKind } from '../x402/amount.ts';
import type { KnownAsset } from '../x402/assets.ts';
import type { Challenge, ChallengedResource, ChallengeReading, Offer } from '../x402/challenge.ts';
import type { ChallengeDifference } from '../x402/challenge-difference.ts';
import type { IllTypedMember } from '../x402/ill-typed.ts';
import type { ManifestFacts } from '../x402/manifest.ts';
import type { ManifestTerms } from '../x402/manifest-terms.ts';
import type { AddressRole } from '../x402/namespaces.ts';
import type { NetworkForm } from '../x402/networks.ts';
import type { OfferFault } from '../x402/offer-faults.ts';
import type { OpenApiTerms } from '../x402/openapi-terms.ts';
import type { OtherProtocol } from '../x402/other-protocol.ts';
import type { PaymentSchemes } from '../x402/payment-schemes.ts';
import type { SchemeRow } from '../x402/schemes.ts';

/** The states of a document's path, in the order in which they are tested. */
export type DocumentReading =
  | { readonly state: 'unreadable'; readonly evidence: string }
  | { readonly state: 'absent'; readonly status: number; readonly evidence: string }
  | { readonly state: 'soft-404'; readonly evidence: string }
  | { readonly state: 'html'; readonly evidence: string }
  /** Longer than the cap; the rest was not read. */
  | { readonly state: 'oversize'; readonly evidence: string }
  | {
      readonly state: 'present';
      readonly path: string;
      readonly answer: HttpData;
      readonly body: string;
    };

export type DocumentReader = (
  path: string,
  answer: HttpObservation,
  soft404: HttpObservation,
) => DocumentReading;

/** The OpenAPI document that S2 to S4, P6 and the probe plan read, with its path. */
export type OpenApiReading =
  | {
      readonly state: 'found';
      readonly path: string;
      readonly canonical: boolean;
      readonly answer: HttpData;
      readonly facts: OpenApiFacts;
    }
  /** Only YAML was found, which is not parsed. */
  | { readonly state: 'yaml'; readonly path: string }
  | { readonly state: 'none'; readonly evidence: string };

export type ManifestReading =
  | {
      readonly state: 'found';
      readonly path: string;
      readonly canonical: boolean;
      readonly facts: ManifestFacts;
    }
  | { readonly state: 'none'; readonly evidence: string };

export type Kit = {
  /** Cleans origin text for evidence: no control, format, bidi and tag characters, NFC, cut, in quotes. */
  quote(text: string, maxChars?: number): string;
  /** Formats a JSON value for evidence, short. */
  show(value: JsonValue | undefined): string;
  /** Formats an address for evidence: as `show`, with each blank escaped. */
  showAddress(value: JsonValue | undefined): string;
  /** Converts a JSON value to a text for comparison: texts unchanged, others as `show` has them. */
  text(value: JsonValue | undefined): string;
  /** Formats an observation that is not ok: "GET /llms.txt: timeout (no answer within 10 s)". */
  failure(request: string, answer: HttpObservation & { readonly ok: false }): string;

  /** Returns the first value of a header, by lower-case name; null when absent. */
  header(answer: HttpData, name: string): string | null;
  headers(answer: HttpData, name: string): readonly string[];
  /** Bytes of the names and values of all headers, by Node's count. */
  headBytes(answer: HttpData): number;
  isHtml(answer: HttpObservation): boolean;
  /** Compares with the soft-404 page; false for error answers. */
  sameBody(answer: HttpObservation, soft404: HttpObservation): boolean;
  document(path: string, answer: HttpObservation, soft404: HttpObservation): DocumentReading;

  json(body: string): JsonReading;
  /** Follows a JSON pointer ("/extra/name"); undefined when it leads nowhere. */
  at(value: JsonValue | undefined, pointer: string): JsonValue | undefined;
  /** Returns an empty object or list for a value of another type. */
  object(value: JsonValue | undefined): JsonObject;
  list(value: JsonValue | undefined): readonly JsonValue[];
  html(body: string): HtmlFacts;
  markdown(body: string): MarkdownFacts;
  robots(body: string): RobotsFacts;
  openapi(seen: {
    readonly openapi: HttpObservation;
    readonly openapiAlternates: readonly PathAnswer[];
    readonly soft404: HttpObservation;
  }): OpenApiReading;
  manifest(seen: {
    readonly manifest: HttpObservation;
    readonly manifestJson: HttpObservation;
    readonly soft404: HttpObservation;
  }): ManifestReading;

  challenge(answer: HttpData): ChallengeReading;
  /** Reads a JSON value as a challenge; null when it is none. */
  challengeIn(value: JsonValue, where: Challenge['where']): Challenge | null;
  /** Compares a body with the header beside it; null when they agree. */
  challengeDifference(header: Challenge, body: Challenge): ChallengeDifference | null;
  /**
   * Finds the resources that challenged, each by its declared method; a challenge to another method
   * counts only when the declared one did not answer 402. Sign-ins are excluded.
   */
  challenged(resources: ResourceSet): readonly ChallengedResource[];
  /** Finds probed resources whose 402 asks for a sign-in and sells nothing. */
  signIns(resources: ResourceSet): readonly ResourceObservation[];
  /** Finds members whose type breaks the specification; some clients refuse the whole challenge. */
  illTyped(challenge: Challenge): readonly IllTypedMember[];
  /** Returns the name of the receipt header, in capitals; null without one. */
  receipt(answer: HttpData): string | null;
  /** Detects another payment protocol of a 402 (MPP, L402) by `WWW-Authenticate`. */
  otherProtocol(answer: HttpData): OtherProtocol | null;

  /** Formats "GET /weather", safe for evidence. */
  request(method: string, path: string): string;
  /** Status of the first answer to a method: null when none came, undefined when none was requested. */
  status(resource: ResourceObservation, method: Probe['method']): number | null | undefined;
  /** Returns true when its own method's first answer is that of input validation: 400, 401 or 422. */
  validatesFirst(resource: ResourceObservation): boolean;
  /** Returns true when only a made-up id was requested and answered 404, so nothing is known. */
  isMadeUp(resource: ResourceObservation): boolean;
  /** Returns true when only POST can give a challenge: declared, or implied by GET's 404. */
  isPostOnly(resource: ResourceObservation): boolean;
  /** Returns true when an OpenAPI operation answered 402 to its own method. */
  answers402(operation: Operation, resources: readonly ResourceObservation[]): boolean;
  /** Finds the security schemes of an OpenAPI document that mean payment over x402. */
  paymentSchemes(facts: OpenApiFacts): PaymentSchemes;
  /** Formats answers of a few resources for evidence: "GET /weather: 200; POST /weather: 422". */
  answers(resources: readonly ResourceObservation[]): string;
  /** Compares OpenAPI's price of a resource with its offers. */
  openapiTerms(
    facts: OpenApiFacts,
    challenged: Pick<ChallengedResource, 'resource' | 'probe'>,
    offers: readonly Offer[],
  ): OpenApiTerms;
  /** Compares the manifest's entries for a resource with its offers. */
  manifestTerms(
    facts: ManifestFacts,
    originUrl: string,
    challenged: ChallengedResource,
  ): ManifestTerms;

  /** Finds faults of an offer by the specification; empty when it is sound, or of an unknown scheme. */
  offerFaults(offer: Offer, version: Challenge['version']): readonly OfferFault[];
  /** Formats a fault for evidence: "/accepts/0/payTo: "0x0…" is zero". */
  describeFault(fault: OfferFault): string;
  /** Returns the sound offers by the specification; all offers when none is sound. */
  judgedOffers(challenge: Challenge): readonly Offer[];
  /** Finds the catalog's row for an offer's scheme on its network; null when there is none. */
  scheme(offer: Offer): SchemeRow | null;
  /** Returns true when the scheme's client supports the offer's transfer method. */
  isPaidMethod(offer: Offer): boolean;
  /** Returns true for a positive number of base units, or the amount format of its network. */
  isAmount(offer: Offer): boolean;
  /** Classifies a network name. Outdated ids and unknown namespaces can be well formed too. */
  networkForm(network: JsonValue | undefined, version: Challenge['version']): NetworkForm;

  /** Converts a network to CAIP-2 ("base" → "eip155:8453"); other names are returned unchanged. */
  caip2(network: string): string;

  /** Parses base units; null for no text, zero, a sign or a decimal. */
  amount(value: JsonValue | undefined): bigint | null;
  /** Price or ceiling, by the scheme; null for an unknown scheme. */
  amountKind(scheme: JsonValue | undefined): AmountKind | null;
  /** Null when the asset is unknown on that network (v1 names of networks are accepted). */
  asset(network: string, asset: string): KnownAsset | null;
  /** Converts a decimal to base units ("0.05", 6 → 50000n); null when it is no such number. */
  baseUnits(decimal: string, decimals: number): bigint | null;
  /** Days between two instants (ISO 8601), never below 0; null without an instant. */
  daysBefore(until: string, instant: string | null): number | null;
  /** Classifies an address by its network; a mixed-case EVM address must carry its EIP-55 checksum. */
  address(
    network: string,
    address: string,
    role?: AddressRole,
  ): 'ok' | 'malformed' | 'bad-checksum' | 'zero' | 'unknown-network';

  /** Resolves a reference in an origin's document; null unless it is on the same origin. */
  sameOrigin(originUrl: string, reference: string): URL | null;
  /** Validates by JSON Schema 2020-12, local `$ref` only; returns the first violations. */
  schemaErrors(schema: JsonValue, instance: JsonValue): readonly string[];
};
