/**
 * What a check works with: memoised parsers and text helpers over observations. Everything here is
 * pure; there is no network and no clock. One kit serves one scan on one worker, and is frozen.
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

/** A document that must be at a path: what stands there, in the order in which it is found out. */
export type DocumentReading =
  | { readonly state: 'unreadable'; readonly evidence: string }
  | { readonly state: 'absent'; readonly status: number; readonly evidence: string }
  | { readonly state: 'soft-404'; readonly evidence: string }
  | { readonly state: 'html'; readonly evidence: string }
  /** Longer than the cap: the rest was not read. */
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

/** The OpenAPI document that S2 to S4, P6 and the plan read, and where it was found. */
export type OpenApiReading =
  | {
      readonly state: 'found';
      readonly path: string;
      readonly canonical: boolean;
      readonly answer: HttpData;
      readonly facts: OpenApiFacts;
    }
  /** Only YAML is there: not read. */
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
  /** Origin text for evidence: control, format, bidi and tag characters gone, NFC, cut, in quotes. */
  quote(text: string, maxChars?: number): string;
  /** A JSON value for evidence, short. */
  show(value: JsonValue | undefined): string;
  /** An address for evidence: as `show`, with each blank as an escape. */
  showAddress(value: JsonValue | undefined): string;
  /** A JSON value to compare or look up: a text as it is, anything else as `show` has it. */
  text(value: JsonValue | undefined): string;
  /** "GET /llms.txt: timeout (no answer within 10 s)" for an observation that is not ok. */
  failure(request: string, answer: HttpObservation & { readonly ok: false }): string;

  /** First value of a header, by lower-case name; null where absent. */
  header(answer: HttpData, name: string): string | null;
  headers(answer: HttpData, name: string): readonly string[];
  /** Bytes of the names and values of all headers, as Node counts a head. */
  headBytes(answer: HttpData): number;
  isHtml(answer: HttpObservation): boolean;
  /** The soft-404 control: equal body of an answer that was no error. */
  sameBody(answer: HttpObservation, soft404: HttpObservation): boolean;
  document(path: string, answer: HttpObservation, soft404: HttpObservation): DocumentReading;

  json(body: string): JsonReading;
  /** What a JSON pointer leads to ("/extra/name"); undefined where it leads nowhere. */
  at(value: JsonValue | undefined, pointer: string): JsonValue | undefined;
  /** The members of an object, and the items of a list; none where the value is something else. */
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
  /** The challenge that a JSON value is, wherever it stands; null where it is none. */
  challengeIn(value: JsonValue, where: Challenge['where']): Challenge | null;
  /** What a body says otherwise than the header beside it; null where they agree. */
  challengeDifference(header: Challenge, body: Challenge): ChallengeDifference | null;
  /**
   * The resources that challenged, each by the method that is declared: a challenge to another
   * method stands in only where the declared one did not answer 402. A sign-in is none of them.
   */
  challenged(resources: ResourceSet): readonly ChallengedResource[];
  /** The probed resources whose 402 asks for a sign-in and sells nothing: no paid resources. */
  signIns(resources: ResourceSet): readonly ResourceObservation[];
  /** Members of a challenge of another type than the specification's: some clients refuse it whole. */
  illTyped(challenge: Challenge): readonly IllTypedMember[];
  /** The header by which an answer says that a payment was settled, in capitals; null for none. */
  receipt(answer: HttpData): string | null;
  /** The other payment protocol that a 402 speaks (MPP, L402), by `WWW-Authenticate`. */
  otherProtocol(answer: HttpData): OtherProtocol | null;

  /** "GET /weather", fit for evidence. */
  request(method: string, path: string): string;
  /** Status of the first answer to a method: null where none came, undefined where none was asked. */
  status(resource: ResourceObservation, method: Probe['method']): number | null | undefined;
  /** Whether the first answer to its own method is what input validation says: 400, 401 or 422. */
  validatesFirst(resource: ResourceObservation): boolean;
  /** Whether a resource was asked with a made-up id alone, and answered 404: nothing is known of it. */
  isMadeUp(resource: ResourceObservation): boolean;
  /** Whether POST is the one method that can bring a challenge: declared, or told by GET's 404. */
  isPostOnly(resource: ResourceObservation): boolean;
  /** Whether an operation of OpenAPI was seen to answer 402, by its own method. */
  answers402(operation: Operation, resources: readonly ResourceObservation[]): boolean;
  /** The security schemes of an OpenAPI document that stand for a payment over x402. */
  paymentSchemes(facts: OpenApiFacts): PaymentSchemes;
  /** "GET /weather: 200; POST /weather: 422", of a few resources, for evidence. */
  answers(resources: readonly ResourceObservation[]): string;
  /** The price that OpenAPI declares of a resource, held against those of the offers. */
  openapiTerms(
    facts: OpenApiFacts,
    challenged: Pick<ChallengedResource, 'resource' | 'probe'>,
    offers: readonly Offer[],
  ): OpenApiTerms;
  /** What the manifest states of a resource, held against what the resource asks for. */
  manifestTerms(
    facts: ManifestFacts,
    originUrl: string,
    challenged: ChallengedResource,
  ): ManifestTerms;

  /** What is wrong with an offer by the specification alone; empty where it is sound, or unknown. */
  offerFaults(offer: Offer, version: Challenge['version']): readonly OfferFault[];
  /** "/accepts/0/payTo: "0x0…" is zero", for evidence. */
  describeFault(fault: OfferFault): string;
  /** The offers that are sound by the specification; where none is, all of them. */
  judgedOffers(challenge: Challenge): readonly Offer[];
  /** What the catalog knows of an offer's scheme on its network; null where that is nothing. */
  scheme(offer: Offer): SchemeRow | null;
  /** Whether the client of a scheme pays by the transfer method that the offer names. */
  isPaidMethod(offer: Offer): boolean;
  /** Whether an amount is a positive number of base units, or what its network writes instead. */
  isAmount(offer: Offer): boolean;
  /** Outdated ids and namespaces that no table here has are well formed too. */
  networkForm(network: JsonValue | undefined, version: Challenge['version']): NetworkForm;

  /** The CAIP-2 name of a network ("base" → "eip155:8453"); other names come back as they are. */
  caip2(network: string): string;

  /** Base units of an offer's amount; null where it is none: no text, zero, a sign, a decimal. */
  amount(value: JsonValue | undefined): bigint | null;
  /** What the amount of a scheme is, a price or a ceiling; null for schemes that we do not know. */
  amountKind(scheme: JsonValue | undefined): AmountKind | null;
  /** Null where we do not know the asset on that network (v1 names of networks are known too). */
  asset(network: string, asset: string): KnownAsset | null;
  /** Base units of a decimal ("0.05", 6 → 50000n); null where it is no such number. */
  baseUnits(decimal: string, decimals: number): bigint | null;
  /** Days from an instant to another (ISO 8601), never below 0; null where there is none. */
  daysBefore(until: string, instant: string | null): number | null;
  /** The form of an address on a network: an EIP-55 mixed-case address must carry its checksum. */
  address(
    network: string,
    address: string,
    role?: AddressRole,
  ): 'ok' | 'malformed' | 'bad-checksum' | 'zero' | 'unknown-network';

  /** Same-origin absolute URL of a reference in one of the origin's documents, or null. */
  sameOrigin(originUrl: string, reference: string): URL | null;
  /** JSON Schema 2020-12, local `$ref` only: the first violations, empty where the instance is valid. */
  schemaErrors(schema: JsonValue, instance: JsonValue): readonly string[];
};
