import { resolveSameOrigin, toOrigin } from '../../guard/origin.ts';
import type { ResourceSet } from '../../model/observations.ts';
import {
  type JsonValue,
  jsonAsText,
  jsonList,
  jsonObject,
  MAX_OPENAPI_NODES,
  parseJson,
  showAddress,
  showJson,
} from '../json/json.ts';
import { createRefResolver, followPointer } from '../json/json-pointer.ts';
import { listSchemaErrors } from '../json/json-schema.ts';
import { findPaymentSchemes, type OpenApiFacts, parseOpenApi } from '../openapi/openapi.ts';
import { keepWholeLines } from '../text/document-limits.ts';
import { parseHtml } from '../text/html.ts';
import { countHeadBytes, headerValue, headerValues } from '../text/http-header.ts';
import { parseMarkdown } from '../text/markdown.ts';
import { parseRobots } from '../text/robots.ts';
import { findHostingAnswer, findSellerStack } from '../text/seller-stack.ts';
import { toBaseUnits } from '../text/stated-price.ts';
import { quoteText } from '../text/text.ts';
import { classifyAddress, classifyAddressShape } from '../x402/address-form.ts';
import { findAmountKind, parseAmount } from '../x402/amount.ts';
import { findKnownAsset } from '../x402/assets.ts';
import {
  type ChallengedResource,
  findRefusedMember,
  findResourceUrlFault,
  nameCopy,
  type Offer,
  parseChallenge,
} from '../x402/challenge.ts';
import { findChallengeDifference } from '../x402/challenge-difference.ts';
import {
  findChallengedResources,
  findOwnResources,
  findSignIns,
} from '../x402/challenged-resources.ts';
import { fixFaults, fixNetwork, fixUnknownNetwork } from '../x402/fault-fixes.ts';
import { findOffersBeside } from '../x402/find-terms.ts';
import { describeIllTyped } from '../x402/ill-typed-members.ts';
import { type ManifestFacts, parseManifest } from '../x402/manifest.ts';
import { compareManifestTerms } from '../x402/manifest-terms.ts';
import { findOtherHeader } from '../x402/misplaced-challenge.ts';
import { classifyNetwork, toCaip2 } from '../x402/networks.ts';
import {
  breaksChallenge,
  describeFaults,
  describePassive,
  describeUnknown,
  describeUnpaidMethod,
  findNamedMember,
  fixVersion,
  quoteClient,
} from '../x402/offer-evidence.ts';
import {
  describeNamedOnly,
  describeNamedPair,
  describeNoOffer,
  describeUnknownOnly,
  findJudgedOffers,
  findOfferFaults,
  hasOnlyUnknownOffers,
  isAmount,
  isUnknownPair,
} from '../x402/offer-faults.ts';
import { compareOpenApiTerms, findPriceContradictions } from '../x402/openapi-terms.ts';
import { findOtherChallenges } from '../x402/other-protocol.ts';
import {
  findNotKnown,
  findSellingResources,
  findUnseen,
  formatNotKnown,
  formatOtherSales,
} from '../x402/other-ways.ts';
import {
  findReceiptHeader,
  findResourceMisplacement,
  findStatus,
  formatRequest,
  hasAnswered402,
  isMadeUp,
  isNoAnswer,
  isPostOnly,
  listAnswers,
  validatesFirst,
} from '../x402/resource-answers.ts';
import { findSchemeRow } from '../x402/schemes.ts';
import { cacheByText, cacheByUrl, createChallengeCache, createEntryIndexCache } from './caches.ts';
import {
  findManifest,
  findOpenApi,
  type ManifestSources,
  type OpenApiSources,
} from './find-documents.ts';
import { sortUnpricedOperations, type UnpricedSources } from './free-operations.ts';
import {
  createBodyComparison,
  type DocumentReader,
  formatFailure,
  isHtmlAnswer,
  readDocument,
  readText,
  type TextReading,
} from './read-document.ts';

const DEFAULT_QUOTED_CHARS = 80;
const MAX_POINTER_CHARS = 200;
const DAY_MS = 86_400_000;

/** The members of the kit that have no cache. Pinned checks use these names, so the names never change. */
const UNCACHED_READERS = {
  /** Quotes an origin's text for evidence: on one line, without invisible characters, cut to `maxChars`. */
  quote: (text: string, maxChars = DEFAULT_QUOTED_CHARS) => quoteText(text, maxChars),
  /** Quotes a JSON pointer in full, because a pointer that is cut leads to no line of the document. */
  quotePointer: (pointer: string) => quoteText(pointer, MAX_POINTER_CHARS),
  /** Formats a JSON value for evidence, in at most 80 characters. */
  show: (value: JsonValue | undefined) => showJson(value),
  showAddress,
  text: jsonAsText,
  failure: formatFailure,
  wholeLines: keepWholeLines,
  header: headerValue,
  headers: headerValues,
  headBytes: countHeadBytes,
  isHtml: isHtmlAnswer,
  at: followPointer,
  /** Returns the target of the value's local `$ref`, or the value itself if it has no `$ref`. */
  resolveRef: (document: JsonValue, value: JsonValue) => createRefResolver(document)(value),
  object: jsonObject,
  list: jsonList,
  challengeIn: parseChallenge,
  challengeDifference: findChallengeDifference,
  describeIllTyped,
  receipt: findReceiptHeader,
  otherChallenges: findOtherChallenges,
  /** Names the seller's software by headers and error bodies; null if no answer shows it. */
  stack: findSellerStack,
  /** Names the hosting platform that answers because no application runs; null for every other answer. */
  hosting: findHostingAnswer,
  offersBeside: findOffersBeside,
  request: formatRequest,
  status: findStatus,
  validatesFirst,
  isMadeUp,
  isNoAnswer,
  isPostOnly,
  answers402: hasAnswered402,
  paymentSchemes: findPaymentSchemes,
  answers: listAnswers,
  /** Finds what stands in place of a challenge; null if the answers hold nothing of x402. */
  misplacement: findResourceMisplacement,
  otherHeader: findOtherHeader,
  openapiTerms: compareOpenApiTerms,
  offerFaults: findOfferFaults,
  describeFaults,
  describeUnknown,
  describePassive,
  describeUnpaidMethod,
  quoteClient,
  breaksChallenge,
  fixFaults,
  fixVersion,
  fixNetwork,
  fixUnknownNetwork,
  namedMember: findNamedMember,
  isUnknownPair,
  inCopy: nameCopy,
  noOffer: describeNoOffer,
  unknownOnly: describeUnknownOnly,
  hasOnlyUnknownOffers,
  judgedOffers: findJudgedOffers,
  refusedMember: findRefusedMember,
  named: describeNamedPair,
  namedOnly: describeNamedOnly,
  scheme: ({ scheme, network }: Offer) => findSchemeRow(scheme, network),
  resourceUrlFault: findResourceUrlFault,
  isAmount,
  networkForm: classifyNetwork,
  caip2: toCaip2,
  amount: parseAmount,
  amountKind: findAmountKind,
  asset: findKnownAsset,
  baseUnits: toBaseUnits,
  /** Returns the days from `instant` to `until` (ISO 8601), at least 0; null if `instant` is missing. */
  daysBefore: (until: string, instant: string | null) => {
    const ms = Date.parse(until) - Date.parse(instant ?? '');
    return Number.isNaN(ms) ? null : Math.max(0, ms / DAY_MS);
  },
  address: classifyAddress,
  addressShape: classifyAddressShape,
  sameOrigin: resolveInOrigin,
  schemaErrors: listSchemaErrors,
};

export type { OpenApiReading } from './find-documents.ts';

/** The readers that every check gets. They are pure, and use no network and no clock. */
export type Kit = ReturnType<typeof createKit>;

/**
 * Makes a kit for one scan on one worker. It parses each text once. Several checks share a result, so results are
 * frozen. The caches are the kit's only state.
 */
export function createKit() {
  const sameBody = createBodyComparison();
  const document: DocumentReader = (path, answer, soft404) =>
    readDocument(path, answer, soft404, sameBody);
  const textDocument = (...[path, answer, soft404]: Parameters<DocumentReader>): TextReading =>
    readText(path, answer, soft404, sameBody);
  const json = cacheByText((text) => parseJson(text));
  const openapiJson = cacheByText((text) => parseJson(text, MAX_OPENAPI_NODES));
  const html = cacheByText(parseHtml);
  const markdown = cacheByText(parseMarkdown);
  const robots = cacheByText(parseRobots);
  const manifestFacts = cacheByText((body): ManifestFacts => {
    const parsed = json(body);
    return parsed.ok ? parseManifest(parsed.value) : { shape: 'unknown', named: [] };
  });
  const openApiFacts = cacheByUrl((body, documentUrl) => {
    const parsed = openapiJson(body);
    return parseOpenApi(parsed.ok ? parsed.value : null, documentUrl);
  });
  const manifest = (sources: ManifestSources) =>
    findManifest(sources, { document, json, parseFacts: manifestFacts });
  const challenge = createChallengeCache();
  const entryIndex = createEntryIndexCache();

  return Object.freeze({
    ...UNCACHED_READERS,
    sameBody,
    document,
    /** Reads a text document. If it was cut, its whole lines are read. */
    textDocument,
    json,
    /** Parses JSON with the higher limit of OpenAPI documents. */
    openapiJson,
    html,
    markdown,
    robots,
    openapi: (sources: OpenApiSources) =>
      findOpenApi(sources, { document, json: openapiJson, parseFacts: openApiFacts }),
    manifest,
    /** Sorts the operations without a price into free, login, answered without a payment, and unknown. */
    unpricedOperations: (facts: OpenApiFacts, sources: UnpricedSources) =>
      sortUnpricedOperations(facts, sources, { sameBody, challenge, manifest, entryIndex }),
    challenge,
    /** Returns the challenges that P3 to P8 and S5 judge. */
    challenged: ({ probed }: ResourceSet) =>
      findChallengedResources(findOwnResources(probed), challenge),
    /** Like `challenged`, with the resources that only an index names. */
    allChallenged: ({ probed }: ResourceSet) => findChallengedResources(probed, challenge),
    signIns: ({ probed }: ResourceSet) => findSignIns(findOwnResources(probed), challenge),
    /** Counts resources that are sold only over another protocol: "2 more are sold over MPP: tempo"; null if none. */
    describeOtherSales: ({ probed }: ResourceSet) =>
      formatOtherSales(findOwnResources(probed), challenge),
    /** Returns the known resources that P3 to P8 and S5 judge, without sign-ins and resources sold over MPP or L402. */
    selling: ({ probed }: ResourceSet) => findSellingResources(findOwnResources(probed), challenge),
    /** Returns the resources that answered 429, or whose requests our politeness kept back. */
    notKnown: ({ probed }: ResourceSet) => findNotKnown(probed),
    /** Counts these resources: "1 of 3 not known: 429"; null if there are none. */
    describeNotKnown: ({ probed }: ResourceSet) => formatNotKnown(probed),
    /** Returns why we may have missed a resource that takes the method; null if we saw every such resource. */
    describeUnseen: (resources: ResourceSet, method: 'GET' | 'POST') =>
      findUnseen(resources, method, challenge),
    /** Lists the operations that OpenAPI and manifest contradict each other about: one has a price, the other none. */
    priceContradictions: (openapi: OpenApiFacts, manifest: ManifestFacts, originUrl: string) =>
      findPriceContradictions(openapi, entryIndex(manifest, originUrl)),
    manifestTerms: (facts: ManifestFacts, originUrl: string, resource: ChallengedResource) =>
      compareManifestTerms(facts, entryIndex(facts, originUrl), resource),
  });
}

/** Returns null for a reference to another origin. Drops the fragment, which only names a part of the document. */
function resolveInOrigin(originUrl: string, reference: string): URL | null {
  const url = resolveSameOrigin(toOrigin(new URL(originUrl)), reference);
  if (url !== null) url.hash = '';
  return url;
}
