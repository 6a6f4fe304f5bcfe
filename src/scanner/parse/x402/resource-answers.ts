import type { HttpData } from '../../model/observation.ts';
import type { HttpObservation, Probe, ResourceObservation } from '../../model/observations.ts';
import { isJsonList, isJsonObject, type JsonValue, jsonObject, parseJson } from '../json/json.ts';
import type { Operation } from '../openapi/openapi.ts';
import { headerValues } from '../text/http-header.ts';
import { cleanText, quoteText } from '../text/text.ts';
import { parseChallenge, readChallenge } from './challenge.ts';
import {
  findMisplacement,
  MISPLACEMENTS,
  type Misplacement,
  saysNothingOfX402,
} from './misplaced-challenge.ts';
import { findOtherChallenges } from './other-protocol.ts';

/** Statuses with which a POST-only resource answers a GET. */
const NO_GET_STATUSES: ReadonlySet<number | null | undefined> = new Set([404, 405]);
/** Statuses of sellers that validate the input before they ask for a payment (x402 issues 1982, 2112). */
const VALIDATION_STATUSES: ReadonlySet<number | null | undefined> = new Set([400, 401, 422]);
/** Meanings of the statuses of MCP tools' answers, which have been converted to HTTP. */
const TOOL_ANSWERS_BY_STATUS: Readonly<Record<string, string>> = {
  '200': 'a result, unpaid',
  '402': 'payment required',
  '422': 'its arguments are refused',
  '500': 'an error without a challenge',
};
const MAX_PATH_CHARS = 80;
const MAX_LISTED_RESOURCES = 3;
const MAX_ERROR_CHARS = 4_096;
const MAX_MESSAGE_CHARS = 80;
/** With these reasons our politeness kept the request back. */
const KEPT_BACK_REASONS: ReadonlySet<string> = new Set(['rate-limited', 'not-sent']);

/** Returns true if an observation says nothing of the resource: a 429, or a request that we kept back. */
export function isNoAnswer(answer: HttpObservation): boolean {
  return answer.ok ? answer.data.status === 429 : KEPT_BACK_REASONS.has(answer.reason);
}

/** Lists the first probes. HEAD is left out, because it repeats GET without a body. */
export function listFirstProbes({ probes }: Pick<ResourceObservation, 'probes'>): readonly Probe[] {
  return probes.filter(({ method, number }) => method !== 'HEAD' && number === 1);
}

/** Formats "GET /weather", safe for evidence. */
export function formatRequest(method: string, path: string): string {
  return `${method} ${cleanText(path, MAX_PATH_CHARS)}`;
}

/** Returns the status of the first answer to a method: null without an answer, undefined without a request. */
export function findStatus(
  resource: Pick<ResourceObservation, 'probes'>,
  method: Probe['method'],
): number | null | undefined {
  const answer = resource.probes.find((probe) => probe.method === method)?.answer;
  if (answer === undefined) return undefined;
  return answer.ok ? answer.data.status : null;
}

/**
 * Returns true if we made up a value of the path or query, and the resource answered 404. The resource may exist for
 * other values.
 */
export function isMadeUp(resource: ResourceObservation): boolean {
  if (resource.madeUp !== true) return false;
  const answers = listFirstProbes(resource).filter(
    ({ method }) => (resource.method ?? method) === method,
  );
  return (
    answers.some(({ answer }) => answer.ok && answer.data.status === 404) &&
    answers.every(({ answer }) => answer.ok && NO_GET_STATUSES.has(answer.data.status))
  );
}

/** Returns true if POST is the declared method, or if no method is declared and GET answered 404 or 405. */
export function isPostOnly(resource: ResourceObservation): boolean {
  if (resource.method !== null) return resource.method === 'POST';
  return NO_GET_STATUSES.has(findStatus(resource, 'GET'));
}

/** Returns true if the answer shows that the seller validates input before it asks for a payment. */
export function validatesFirst(resource: ResourceObservation): boolean {
  const method = isPostOnly(resource) ? 'POST' : 'GET';
  const answer = resource.probes.find((probe) => probe.method === method)?.answer;
  if (answer?.ok !== true) return false;
  const isRefusal = VALIDATION_STATUSES.has(answer.data.status) || isErrorWith200(answer.data);
  // A seller that sends the challenge with 401 has asked for the payment first.
  return isRefusal && findResourceMisplacement(resource) === null;
}

/** Returns true for an error of JSON-RPC, or a body that says it failed: nothing was delivered, in spite of the 200. */
function isErrorWith200({ status, body }: HttpData): boolean {
  if (status !== 200 || body.length > MAX_ERROR_CHARS) return false;
  const json = parseJson(body);
  if (!json.ok || !isJsonObject(json.value) || json.value['result'] !== undefined) return false;
  const { jsonrpc, error, success, ok } = json.value;
  if (jsonrpc === '2.0') return isJsonObject(error);
  return (success === false || ok === false) && findMessage(json.value) !== null;
}

/** Finds the sentence with which an error says what is wrong; FastAPI lists one for each fault of the input. */
function findMessage(value: JsonValue): string | null {
  const { error, message, detail } = jsonObject(value);
  const first = jsonObject(isJsonList(detail) ? detail[0] : undefined);
  const values = [error, jsonObject(error)['message'], message, detail, first['msg']];
  return values.filter((value) => typeof value === 'string').find((text) => text.trim()) ?? null;
}

/** Returns true if a resource answered 402 to a request of this OpenAPI operation. */
export function hasAnswered402(
  { template, requestPath, method }: Pick<Operation, 'template' | 'requestPath' | 'method'>,
  resources: readonly ResourceObservation[],
): boolean {
  return resources.some(
    (resource) =>
      (resource.template === template || resource.path === requestPath) &&
      (method === 'GET' || method === 'POST') &&
      findStatus(resource, method) === 402,
  );
}

/**
 * Returns what the answers to GET and POST hold in place of a readable challenge; null if their statuses say all (see
 * `findMisplacement`). A 402 that speaks only another protocol holds nothing of x402.
 */
export function findResourceMisplacement(resource: ResourceObservation): Misplacement | null {
  if (resource.tool !== undefined) return null;
  const misplacements = listFirstProbes(resource).flatMap(({ answer }) =>
    answer.ok ? (nameMisplacement(answer.data) ?? []) : [],
  );
  const [surest] = misplacements.toSorted(
    (left, right) => MISPLACEMENTS.indexOf(left.kind) - MISPLACEMENTS.indexOf(right.kind),
  );
  return surest ?? null;
}

function nameMisplacement(answer: HttpData): Misplacement | null {
  const misplacement = findMisplacement(answer, readChallenge(answer));
  if (misplacement === null || !saysNothingOfX402(misplacement)) return misplacement;
  return findOtherChallenges(answer).length > 0 ? null : misplacement;
}

/**
 * Adds what stands in place of a challenge: "402 with PAYMENT-REQUIRED in base64url". If a 402 has nothing of x402, adds
 * the other protocol: "402 (MPP)".
 */
function formatStatus(answer: HttpData): string {
  const misplacement = nameMisplacement(answer);
  if (misplacement !== null) return `${answer.status} ${misplacement.text}`;
  const [otherChallenge] = findOtherChallenges(answer);
  const isOtherOnly = otherChallenge !== undefined && readChallenge(answer).challenge === null;
  if (isOtherOnly) return `${answer.status} (${otherChallenge.protocol})`;
  return `${answer.status}${formatError(answer)}`;
}

/** The body of a 404 or 405 says no more than the status. `formatStatus` describes a 402. */
const WORDLESS_STATUSES: ReadonlySet<number> = new Set([402, 404, 405]);

/** Returns the words of an error: ' "recipient is required"'; an empty text without any. */
function formatError(answer: HttpData): string {
  const { status, body } = answer;
  const isError = isErrorWith200(answer);
  const hasWords = isError || (status >= 400 && !WORDLESS_STATUSES.has(status));
  if (!hasWords || body.length > MAX_ERROR_CHARS) return '';
  const json = parseJson(body);
  const message = json.ok ? findMessage(json.value) : null;
  const words = message === null ? '' : ` ${quoteText(message, MAX_MESSAGE_CHARS)}`;
  return isError ? ` with an error${words}` : words;
}

/** Formats the status of the second answer if it differs: some sellers ask for money only after a few free requests. */
function formatSecondStatus(
  method: Probe['method'],
  { status }: HttpData,
  probes: readonly Probe[],
): string {
  const second = probes.find((probe) => probe.method === method && probe.number === 2)?.answer;
  return second?.ok && second.data.status !== status ? `, then ${second.data.status}` : '';
}

/** Formats the first answers of a few resources to GET and POST: "GET /weather: 200; POST /weather: 422". */
export function listAnswers(resources: readonly ResourceObservation[]): string {
  const answers = resources.slice(0, MAX_LISTED_RESOURCES).flatMap(({ path, probes, tool }) =>
    listFirstProbes({ probes }).map(({ method, answer }) => {
      if (!answer.ok) return `${formatRequest(method, path)}: ${answer.reason}`;
      const text =
        tool === undefined
          ? formatStatus(answer.data) + formatSecondStatus(method, answer.data, probes)
          : (TOOL_ANSWERS_BY_STATUS[answer.data.status] ?? String(answer.data.status));
      return `${formatRequest(method, path)}: ${text}`;
    }),
  );
  const moreCount = resources.length - MAX_LISTED_RESOURCES;
  return moreCount > 0 ? `${answers.join('; ')}; ${moreCount} more` : answers.join('; ');
}

/** The headers of versions 2 and 1. */
const RECEIPT_HEADERS = ['payment-response', 'x-payment-response'];
const MAX_HEADER_CHARS = 65_536;

/** Returns the name of the receipt header in capitals; null if the answer has no receipt. */
export function findReceiptHeader(answer: HttpData): string | null {
  const name = RECEIPT_HEADERS.find((header) => headerValues(answer, header).some(isReceipt));
  return name?.toUpperCase() ?? null;
}

/** Some middleware puts a challenge into this header while the facilitator is down. A challenge is not a receipt. */
function isReceipt(value: string): boolean {
  const json = parseJson(Buffer.from(value.slice(0, MAX_HEADER_CHARS), 'base64').toString('utf8'));
  const challenge = json.ok ? parseChallenge(json.value, 'header') : null;
  return challenge === null || challenge.offers.length === 0;
}
