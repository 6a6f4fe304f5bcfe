/** Finds the documents that may declare paid paths, and that the scan could not read. */

import type { HttpObservation, OpenApiAnswer } from '../../model/observations.ts';
import type { Kit } from '../../parse/kit/kit.ts';
import { findExceededLimit } from '../../parse/text/document-limits.ts';
import type { FirstWave } from './declared-requests.ts';

const SERVER_ERROR = 500;

/**
 * Returns a line for each such document: "/openapi.json: 429". A status of 401, 402, 403 or 404 is an answer, so
 * the document is absent. An HTML page hides a document only if the site does not answer every path with a page.
 */
export function findUnread(wave: FirstWave, kit: Kit): readonly string[] {
  const documents: readonly OpenApiAnswer[] = [
    { path: '/openapi.json', answer: wave.openapi },
    ...wave.openapiAlternates,
    { path: '/.well-known/x402', answer: wave.manifest },
    { path: '/.well-known/x402.json', answer: wave.manifestJson },
  ];
  const llmsTxt = kit.document('/llms.txt', wave.llmsTxt, wave.soft404);
  const isPageEverywhere = kit.isHtml(wave.soft404) && isOk(wave.soft404);
  const lines = documents.flatMap((document): readonly string[] => {
    const { path, answer } = document;
    if (isBudgetSpent(answer)) return [];
    const reading = kit.document(path, answer, wave.soft404);
    if (reading.state === 'present') return readPresent(document, reading.body, kit);
    if (reading.state === 'html') return isPageEverywhere ? [] : [reading.evidence];
    return isUnread(reading) ? [reading.evidence] : [];
  });
  return isUnread(llmsTxt) && !isBudgetSpent(wave.llmsTxt) ? [...lines, llmsTxt.evidence] : lines;
}

/** What the origin's own bytes used up stays its finding. */
function isBudgetSpent(answer: HttpObservation): boolean {
  return (answer.ok ? answer.data.bodyFailure : answer.reason) === 'budget';
}

type State = ReturnType<Kit['document']>;

/** True if the path may have a document whose content we do not know. */
function isUnread(
  reading: State,
): reading is Exclude<State, { state: 'present' | 'soft-404' | 'html' }> {
  if (reading.state === 'absent') return reading.status >= SERVER_ERROR;
  return (
    reading.state === 'rate-limited' ||
    reading.state === 'unreadable' ||
    reading.state === 'over-limit'
  );
}

/** JSON that breaks our limits, and a text that its server does not call JSON, may hold declarations. */
function readPresent(
  { path, answer, yaml }: OpenApiAnswer,
  body: string,
  kit: Kit,
): readonly string[] {
  const isManifest = path.startsWith('/.well-known/x402');
  const json = isManifest ? kit.json(body) : kit.openapiJson(body);
  if (json.ok || !answer.ok || (yaml !== undefined && 'json' in yaml)) return [];
  const limit = findExceededLimit(json, yaml);
  if (limit !== null) return [`GET ${path}: 200, but ${limit}, our limit`];
  if (yaml !== undefined) return [];
  const type = kit.header(answer.data, 'content-type') ?? '';
  const isOtherType = type !== '' && !/json/i.test(type);
  return isOtherType ? [`GET ${path}: 200 ${kit.quote(type, 40)}`] : [];
}

function isOk(answer: HttpObservation): boolean {
  return answer.ok && answer.data.status === 200;
}
