import { deepFreeze } from '../../engine/deep-freeze.ts';
import type { HttpData } from '../../model/observation.ts';
import { originOf } from '../../origin/origin.ts';
import { sameOriginUrl } from '../../origin/reference.ts';
import { parseJson } from '../json/json.ts';
import { atPointer } from '../json/json-pointer.ts';
import { schemaErrors } from '../json/json-schema.ts';
import { showJson } from '../json/show-json.ts';
import { type OpenApiFacts, parseOpenApi } from '../openapi/openapi.ts';
import { daysBefore } from '../text/days-before.ts';
import { baseUnits } from '../text/decimal.ts';
import { parseHtml } from '../text/html.ts';
import { headerValue, headerValues } from '../text/http-header.ts';
import { parseMarkdown } from '../text/markdown.ts';
import { parseRobots } from '../text/robots.ts';
import { quoteText } from '../text/text.ts';
import { addressForm } from '../x402/address-form.ts';
import { knownAsset } from '../x402/assets.ts';
import { type ChallengeReading, challengeOf, readChallenge } from '../x402/challenge.ts';
import { challengedResources, signInResources } from '../x402/challenged-resources.ts';
import { type ManifestFacts, parseManifest } from '../x402/manifest.ts';
import { manifestTerms } from '../x402/manifest-terms.ts';
import { caip2 } from '../x402/networks.ts';
import { otherProtocol } from '../x402/other-protocol.ts';
import { paymentSchemes } from '../x402/payment-schemes.ts';
import {
  isPostOnly,
  listAnswers,
  requestLine,
  statusOf,
  wasAnswered402,
} from '../x402/resource-answers.ts';
import { isHtmlAnswer, isSameBody } from './answer-body.ts';
import { findManifest } from './find-manifest.ts';
import { findOpenApi } from './find-openapi.ts';
import type { Kit } from './kit.ts';
import { failureText, readDocument } from './read-document.ts';

const QUOTED_CHARS = 80;

/**
 * The kit of one scan. Each text is parsed once, and what comes of it is frozen: several checks
 * work with the same values. Holds no state but that memory.
 */
export function createKit(): Kit {
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

  return Object.freeze({
    quote: (text, maxChars = QUOTED_CHARS) => quoteText(text, maxChars),
    show: (value) => showJson(value),
    failure: failureText,
    header: headerValue,
    headers: headerValues,
    isHtml: isHtmlAnswer,
    sameBody: isSameBody,
    document: readDocument,
    json,
    at: atPointer,
    html,
    markdown,
    robots,
    openapi: (seen) => findOpenApi(seen, { json, facts: openApiFacts }),
    manifest: (seen) => findManifest(seen, { json, facts: manifestFacts }),
    challenge,
    challengeIn: challengeOf,
    challenged: (resources) => challengedResources(resources.probed, challenge),
    signIns: (resources) => signInResources(resources.probed, challenge),
    otherProtocol,
    request: requestLine,
    status: statusOf,
    isPostOnly,
    answers402: wasAnswered402,
    paymentSchemes,
    answers: listAnswers,
    manifestTerms,
    caip2,
    asset: knownAsset,
    baseUnits,
    daysBefore,
    address: addressForm,
    sameOrigin,
    schemaErrors,
  } satisfies Kit);
}

/** The fragment names a place in the document, not another document. */
function sameOrigin(originUrl: string, reference: string): URL | null {
  const url = sameOriginUrl(originOf(new URL(originUrl)), reference);
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

/** A challenge depends on nothing but header and body. */
function rememberChallenge(): (answer: HttpData) => ChallengeReading {
  const known = new Map<string, ChallengeReading>();
  return (answer) => {
    const key = JSON.stringify([headerValues(answer, 'payment-required'), answer.body]);
    const before = known.get(key);
    if (before !== undefined) return before;
    const reading = deepFreeze(readChallenge(answer));
    known.set(key, reading);
    return reading;
  };
}
