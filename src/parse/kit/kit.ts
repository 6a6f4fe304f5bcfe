import { sameOriginUrl, toOrigin } from '../../guard/origin.ts';
import type { HttpData } from '../../model/observation.ts';
import type { ResourceSet } from '../../model/observations.ts';
import {
  deepFreeze,
  type JsonValue,
  jsonAsText,
  jsonList,
  jsonObject,
  parseJson,
  showAddress,
  showJson,
} from '../json/json.ts';
import { followPointer } from '../json/json-pointer.ts';
import { listSchemaErrors } from '../json/json-schema.ts';
import { type OpenApiFacts, parseOpenApi } from '../openapi/openapi.ts';
import { baseUnits } from '../text/decimal.ts';
import { parseHtml } from '../text/html.ts';
import { headBytes, headerValue, headerValues } from '../text/http-header.ts';
import { daysBefore } from '../text/instant.ts';
import { parseMarkdown } from '../text/markdown.ts';
import { parseRobots } from '../text/robots.ts';
import { quoteText } from '../text/text.ts';
import { addressForm } from '../x402/address-form.ts';
import { amountKind, parseAmount } from '../x402/amount.ts';
import { knownAsset } from '../x402/assets.ts';
import {
  type ChallengedResource,
  type ChallengeReading,
  type Offer,
  parseChallenge,
  readChallenge,
  refusedMember,
} from '../x402/challenge.ts';
import { challengeDifference } from '../x402/challenge-difference.ts';
import { challengedResources, signInResources } from '../x402/challenged-resources.ts';
import { illTypedMembers } from '../x402/ill-typed.ts';
import { type ManifestFacts, parseManifest } from '../x402/manifest.ts';
import { type EntryIndex, indexEntries, manifestTerms } from '../x402/manifest-terms.ts';
import { moreSold } from '../x402/more-sold.ts';
import { caip2, networkForm } from '../x402/networks.ts';
import { describeFault } from '../x402/offer-fault.ts';
import { isAmount, judgedOffers, namedOnly, namedPair, offerFaults } from '../x402/offer-faults.ts';
import { openapiTerms, paymentSchemes } from '../x402/openapi-terms.ts';
import { otherChallenges } from '../x402/other-protocol.ts';
import { findOtherWays, sellingResources } from '../x402/other-ways.ts';
import { findReceiptHeader } from '../x402/receipt.ts';
import {
  findStatus,
  isMadeUp,
  isPostOnly,
  listAnswers,
  requestLine,
  validatesFirst,
  wasAnswered402,
} from '../x402/resource-answers.ts';
import { isPaidMethod, schemeRow } from '../x402/schemes.ts';
import { createBodyComparison, isHtmlAnswer } from './answer-body.ts';
import { findManifest, type ManifestSources } from './find-manifest.ts';
import { findOpenApi, type OpenApiSources } from './find-openapi.ts';
import { type DocumentReader, failureText, readDocument } from './read-document.ts';

const QUOTED_CHARS = 80;

/** Members of the kit without a cache. */
const STATELESS = {
  /** Cleans origin text for evidence: no control, format, bidi and tag characters, NFC, cut, in quotes. */
  quote: (text: string, maxChars = QUOTED_CHARS) => quoteText(text, maxChars),
  /** Formats a JSON value for evidence, short. */
  show: (value: JsonValue | undefined) => showJson(value),
  showAddress,
  text: jsonAsText,
  failure: failureText,
  header: headerValue,
  headers: headerValues,
  headBytes,
  isHtml: isHtmlAnswer,
  at: followPointer,
  object: jsonObject,
  list: jsonList,
  challengeIn: parseChallenge,
  challengeDifference,
  illTyped: illTypedMembers,
  receipt: findReceiptHeader,
  otherChallenges,
  request: requestLine,
  status: findStatus,
  validatesFirst,
  isMadeUp,
  isPostOnly,
  answers402: wasAnswered402,
  paymentSchemes,
  answers: listAnswers,
  openapiTerms,
  offerFaults,
  describeFault,
  judgedOffers,
  refusedMember,
  named: namedPair,
  namedOnly,
  scheme: ({ scheme, network }: Offer) => schemeRow(scheme, network),
  isPaidMethod: isPaidOffer,
  isAmount,
  networkForm,
  caip2,
  amount: parseAmount,
  amountKind,
  asset: knownAsset,
  baseUnits,
  daysBefore,
  address: addressForm,
  sameOrigin,
  schemaErrors: listSchemaErrors,
};

/** The readers of checks: cached parsers and text helpers, pure, without network or clock. */
export type Kit = ReturnType<typeof createKit>;

/**
 * Caches each parsed text for one scan on one worker. Results are frozen, because several checks share
 * them; the cache is the kit's only state.
 */
export function createKit() {
  const sameBody = createBodyComparison();
  const document: DocumentReader = (path, answer, soft404) =>
    readDocument(path, answer, soft404, sameBody);
  const json = remember(parseJson);
  const html = remember(parseHtml);
  const markdown = remember(parseMarkdown);
  const robots = remember(parseRobots);
  const manifestFacts = remember((body): ManifestFacts => {
    const read = json(body);
    return read.ok ? parseManifest(read.value) : { shape: 'unknown' };
  });
  const openApiFacts = rememberByUrl((body, documentUrl) => {
    const read = json(body);
    return parseOpenApi(read.ok ? read.value : null, documentUrl);
  });
  const challenge = rememberChallenge();
  const entryIndex = rememberIndex();

  return Object.freeze({
    ...STATELESS,
    sameBody,
    document,
    json,
    html,
    markdown,
    robots,
    openapi: (seen: OpenApiSources) => findOpenApi(seen, { document, json, facts: openApiFacts }),
    manifest: (seen: ManifestSources) =>
      findManifest(seen, { document, json, facts: manifestFacts }),
    challenge,
    challenged: (resources: ResourceSet) => challengedResources(resources.probed, challenge),
    signIns: (resources: ResourceSet) => signInResources(resources.probed, challenge),
    /** Formats what sells over another protocol only: "2 more are sold over MPP: tempo"; null without one. */
    moreSold: ({ probed }: ResourceSet) => {
      const sold = challengedResources(probed, challenge);
      return moreSold(
        findOtherWays(probed),
        sold.map(({ probe, resource: { path } }) => ({ method: probe.method, path })),
      );
    },
    /** The probed resources that P3 to P8 and S5 judge: neither sign-ins nor a second till. */
    selling: ({ probed }: ResourceSet) => sellingResources(probed, challenge),
    manifestTerms: (facts: ManifestFacts, originUrl: string, one: ChallengedResource) =>
      manifestTerms(facts, entryIndex(facts, originUrl), one),
  });
}

function isPaidOffer({ scheme, network, extra }: Offer): boolean {
  const row = schemeRow(scheme, network);
  return row !== null && isPaidMethod(row, extra);
}

/** The fragment is dropped: it names a place in the document, not another document. */
function sameOrigin(originUrl: string, reference: string): URL | null {
  const url = sameOriginUrl(toOrigin(new URL(originUrl)), reference);
  if (url !== null) url.hash = '';
  return url;
}

function remember<T>(parse: (text: string) => T): (text: string) => T {
  const known = new Map<string, T>();
  return (text) => {
    const before = known.get(text);
    if (before !== undefined) return before;
    const facts = deepFreeze(parse(text));
    known.set(text, facts);
    return facts;
  };
}

function rememberByUrl(
  parse: (body: string, documentUrl: string) => OpenApiFacts,
): (body: string, documentUrl: string) => OpenApiFacts {
  const perUrl = new Map<string, (body: string) => OpenApiFacts>();
  return (body, documentUrl) => {
    const parseAt = perUrl.get(documentUrl) ?? remember((text: string) => parse(text, documentUrl));
    perUrl.set(documentUrl, parseAt);
    return parseAt(body);
  };
}

function rememberIndex(): (facts: ManifestFacts, originUrl: string) => EntryIndex {
  const known = new WeakMap<ManifestFacts, Map<string, EntryIndex>>();
  return (facts, originUrl) => {
    const byOrigin = known.get(facts) ?? new Map<string, EntryIndex>();
    const index = byOrigin.get(originUrl) ?? indexEntries(facts, originUrl);
    known.set(facts, byOrigin.set(originUrl, index));
    return index;
  };
}

/** Keyed by header and body, which determine the challenge. */
function rememberChallenge(): (answer: HttpData) => ChallengeReading {
  const byAnswer = new WeakMap<HttpData, ChallengeReading>();
  const byContent = new Map<string, ChallengeReading>();
  return (answer) => {
    const before = byAnswer.get(answer);
    if (before !== undefined) return before;
    // Most probes of one resource have equal answers.
    const content = JSON.stringify([headerValues(answer, 'payment-required'), answer.body]);
    const reading = byContent.get(content) ?? deepFreeze(readChallenge(answer));
    byContent.set(content, reading);
    byAnswer.set(answer, reading);
    return reading;
  };
}
