/** Finds the documents that may declare paid paths, and that the scan could not read. */

import type { HttpObservation } from '../../model/observations.ts';
import type { Kit } from '../../parse/kit/kit.ts';
import type { FirstWave } from './declared-requests.ts';

const SERVER_ERROR = 500;

/**
 * Returns a line for each such document: "/openapi.json: 429". A status of 401, 402, 403 or 404 is an answer, so
 * the document is absent. An HTML page hides a document only if the site does not answer every path with a page.
 */
export function findUnread(wave: FirstWave, kit: Kit): readonly string[] {
  const documents = [
    { path: '/openapi.json', answer: wave.openapi },
    ...wave.openapiAlternates,
    { path: '/.well-known/x402', answer: wave.manifest },
    { path: '/.well-known/x402.json', answer: wave.manifestJson },
  ];
  const llmsTxt = kit.document('/llms.txt', wave.llmsTxt, wave.soft404);
  const isPageEverywhere = kit.isHtml(wave.soft404) && isOk(wave.soft404);
  const lines = documents.flatMap(({ path, answer }): readonly string[] => {
    const reading = kit.document(path, answer, wave.soft404);
    if (reading.state === 'present') return readPresent(path, reading.body, answer, kit);
    if (reading.state === 'html') return isPageEverywhere ? [] : [reading.evidence];
    return isUnread(reading) ? [reading.evidence] : [];
  });
  return isUnread(llmsTxt) ? [...lines, llmsTxt.evidence] : lines;
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
  path: string,
  body: string,
  answer: HttpObservation,
  kit: Kit,
): readonly string[] {
  const isOpenApi = !path.startsWith('/.well-known/x402');
  const json = isOpenApi ? kit.openapiJson(body) : kit.json(body);
  if (json.ok || !answer.ok) return [];
  if (json.isOverLimit) return [`GET ${path}: 200, but ${json.detail}, our limit`];
  const type = kit.header(answer.data, 'content-type') ?? '';
  const isOtherType = type !== '' && !/json/i.test(type);
  return isOtherType ? [`GET ${path}: 200 ${kit.quote(type, 40)}`] : [];
}

function isOk(answer: HttpObservation): boolean {
  return answer.ok && answer.data.status === 200;
}
