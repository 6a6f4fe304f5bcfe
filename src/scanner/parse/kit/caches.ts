/** Caches of one kit. Each keeps a result for the text or value that it was made from. */
import type { HttpData } from '../../model/observation.ts';
import { deepFreeze } from '../json/json.ts';
import { headerValues } from '../text/http-header.ts';
import { type ChallengeReading, readChallenge } from '../x402/challenge.ts';
import type { ManifestFacts } from '../x402/manifest.ts';
import { type EntryIndex, indexEntries } from '../x402/manifest-terms.ts';

export function cacheByText<T>(parse: (text: string) => T): (text: string) => T {
  const results = new Map<string, T>();
  return (text) => {
    const cached = results.get(text);
    if (cached !== undefined) return cached;
    const result = deepFreeze(parse(text));
    results.set(text, result);
    return result;
  };
}

type ParseFrom<T> = (body: string, documentUrl: string) => T;

export function cacheByUrl<T>(parse: ParseFrom<T>): ParseFrom<T> {
  const parsersByUrl = new Map<string, (body: string) => T>();
  return (body, documentUrl) => {
    const parseCached =
      parsersByUrl.get(documentUrl) ?? cacheByText((text: string) => parse(text, documentUrl));
    parsersByUrl.set(documentUrl, parseCached);
    return parseCached(body);
  };
}

export function createEntryIndexCache(): (facts: ManifestFacts, originUrl: string) => EntryIndex {
  const indexes = new WeakMap<ManifestFacts, Map<string, EntryIndex>>();
  return (facts, originUrl) => {
    const byOrigin = indexes.get(facts) ?? new Map<string, EntryIndex>();
    const index = byOrigin.get(originUrl) ?? indexEntries(facts, originUrl);
    indexes.set(facts, byOrigin.set(originUrl, index));
    return index;
  };
}

/** Equal headers and bodies give the same challenge, so they are the key of `byContent`. */
export function createChallengeCache(): (answer: HttpData) => ChallengeReading {
  const byAnswer = new WeakMap<HttpData, ChallengeReading>();
  const byContent = new Map<string, ChallengeReading>();
  return (answer) => {
    const cached = byAnswer.get(answer);
    if (cached !== undefined) return cached;
    // Most probes of one resource have equal answers.
    const content = JSON.stringify([headerValues(answer, 'payment-required'), answer.body]);
    const reading = byContent.get(content) ?? deepFreeze(readChallenge(answer));
    byContent.set(content, reading);
    byAnswer.set(answer, reading);
    return reading;
  };
}
