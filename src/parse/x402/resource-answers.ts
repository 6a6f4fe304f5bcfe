import type { HttpData } from '../../model/observation.ts';
import type { Probe, ResourceObservation } from '../../model/observations.ts';
import type { Operation } from '../openapi/openapi.ts';
import { cleanText } from '../text/text.ts';
import { readChallenge } from './challenge.ts';
import { findOtherChallenges } from './other-protocol.ts';

/** Statuses that a POST-only resource answers to GET. */
const NO_GET: ReadonlySet<number | null | undefined> = new Set([404, 405]);
/** Statuses of input validation that runs before the payment check (x402 issues 1982, 2112). */
const VALIDATION: ReadonlySet<number | null | undefined> = new Set([400, 401, 422]);
/** Meanings of a status in a tool's converted answer (`tool-answer.ts`). */
const TOOL_ANSWERS: Readonly<Record<string, string>> = {
  '200': 'a result, unpaid',
  '402': 'payment required',
  '422': 'its arguments are refused',
  '500': 'an error without a challenge',
};
const MAX_PATH_CHARS = 80;
const MAX_LISTED = 3;

/** Formats "GET /weather", safe for evidence. */
export function formatRequest(method: string, path: string): string {
  return `${method} ${cleanText(path, MAX_PATH_CHARS)}`;
}

/** Status of the first answer to a method: null when none came, undefined when none was requested. */
export function findStatus(
  resource: ResourceObservation,
  method: Probe['method'],
): number | null | undefined {
  const answer = resource.probes.find((probe) => probe.method === method)?.answer;
  if (answer === undefined) return undefined;
  return answer.ok ? answer.data.status : null;
}

/**
 * Returns true when a value of the path or query was made up and its methods answer 404: that item is
 * missing, and others may exist.
 */
export function isMadeUp(resource: ResourceObservation): boolean {
  if (resource.madeUp !== true) return false;
  const answers = resource.probes.filter(
    ({ method, number }) =>
      number === 1 && method !== 'HEAD' && (resource.method ?? method) === method,
  );
  return (
    answers.some(({ answer }) => answer.ok && answer.data.status === 404) &&
    answers.every(({ answer }) => answer.ok && NO_GET.has(answer.data.status))
  );
}

/** Returns true when only POST can give a challenge: declared, or implied by GET's 404 or 405. */
export function isPostOnly(resource: ResourceObservation): boolean {
  if (resource.method !== null) return resource.method === 'POST';
  return NO_GET.has(findStatus(resource, 'GET'));
}

/** Returns true when input is checked before payment, judging by its own method's answer. */
export function validatesFirst(resource: ResourceObservation): boolean {
  return VALIDATION.has(findStatus(resource, isPostOnly(resource) ? 'POST' : 'GET'));
}

/** Returns true when an OpenAPI operation answered 402 to its own method. */
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

/** Adds the protocol, "402 (MPP)", when a 402 has another protocol and no x402 challenge. */
function statusText(answer: HttpData): string {
  const [other] = findOtherChallenges(answer);
  const isOther = other !== undefined && readChallenge(answer).challenge === null;
  return isOther ? `${answer.status} (${other.protocol})` : String(answer.status);
}

/** Formats the first answers to GET and POST of a few resources: "GET /weather: 200; POST /weather: 422". */
export function listAnswers(resources: readonly ResourceObservation[]): string {
  const answers = resources.slice(0, MAX_LISTED).flatMap(({ path, probes, tool }) =>
    probes
      .filter(({ method, number }) => method !== 'HEAD' && number === 1)
      .map(({ method, answer }) => {
        const status = answer.ok ? statusText(answer.data) : answer.reason;
        const text = tool === undefined ? status : (TOOL_ANSWERS[status] ?? status);
        return `${formatRequest(method, path)}: ${text}`;
      }),
  );
  const rest = resources.length - MAX_LISTED;
  return rest > 0 ? `${answers.join('; ')}; ${rest} more` : answers.join('; ');
}
