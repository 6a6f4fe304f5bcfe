/**
 * Turns a tool's answer to an unpaid call into an HTTP answer, because checks and clients read HTTP answers. A
 * challenge becomes a 402: in PAYMENT-REQUIRED if it is structured (specs/transports-v2/mcp.md), in the body if it is a
 * text or an older SDK's error. `_meta["x402/payment-response"]` becomes PAYMENT-RESPONSE. Refused arguments become a
 * 422, other errors a 500, and any other result a 200.
 */
import type { HttpData } from '../../model/observation.ts';
import type { HttpObservation, ToolFacts } from '../../model/observations.ts';
import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  jsonList,
  jsonObject,
  jsonText,
  parseJson,
} from '../json/json.ts';
import { parseChallenge } from '../x402/challenge.ts';
import { findRpcResponse } from './tool-list.ts';

export type ToolAnswerReading = {
  readonly answer: HttpObservation;
  readonly facts: Pick<ToolFacts, 'binding' | 'isError'>;
};

/** JSON-RPC error codes of servers that refuse a call before the tool runs: invalid request, invalid params. */
const INVALID_CALL_CODES: ReadonlySet<JsonValue | undefined> = new Set([-32_600, -32_602]);
/** Older SDKs answer with this error code and put the challenge into the data of the error. */
const PAYMENT_REQUIRED_CODE = 402;
/** SDKs report invalid arguments as a result with `isError` and a text like these. */
const VALIDATION_WORDS = /-32602|validation|invalid (?:argument|input|param)|required propert/i;
const MAX_TEXT_CHARS = 16_384;
/** Facts of an answer without a tool result. An HTTP 402 or a JSON-RPC error may still be a challenge. */
const NO_RESULT: ToolAnswerReading['facts'] = { binding: null, isError: null };

type AnswerMaker = (
  status: number,
  text: string,
  paymentHeaders?: HttpData['headers'],
) => HttpObservation;

/** The HTTP answer to a JSON-RPC request, and the id of the request. */
export type McpResponse = { readonly answer: HttpObservation; readonly id: number };

/** An answer whose HTTP status is 402 already is returned unchanged. */
export function readToolAnswer({ answer, id }: McpResponse): ToolAnswerReading {
  if (!answer.ok || answer.data.status === 402) return { answer, facts: NO_RESULT };
  const response = findRpcResponse(answer.data, id);
  if (response === null) return { answer: toUnreadable(answer), facts: NO_RESULT };
  // The response was found whole, so it does not matter if the body broke off behind it.
  const { bodyFailure: _, ...httpData } = answer.data;
  // The payment headers of the HTTP answer belong to the endpoint, not to the tool.
  const otherHeaders = httpData.headers.filter(([name]) => !/^(?:x-)?payment-/.test(name));
  const toAnswer: AnswerMaker = (status, body, paymentHeaders = []) => ({
    ...answer,
    truncated: false,
    data: { ...httpData, status, headers: [...otherHeaders, ...paymentHeaders], body },
  });
  if (isJsonObject(response['error'])) {
    const { code, data, message } = response['error'];
    const challenge = code === PAYMENT_REQUIRED_CODE ? readChallengeValue(data) : undefined;
    if (challenge !== undefined)
      return { answer: toAnswer(402, JSON.stringify(challenge)), facts: NO_RESULT };
    const status = INVALID_CALL_CODES.has(code) ? 422 : 500;
    return { answer: toAnswer(status, jsonText(message) ?? ''), facts: NO_RESULT };
  }
  return readResult(jsonObject(response['result']), toAnswer);
}

function readResult(result: JsonObject, toAnswer: AnswerMaker): ToolAnswerReading {
  const isError = result['isError'] === true;
  const receipt = jsonObject(result['_meta'])['x402/payment-response'];
  const receiptHeaders = encodeHeader('payment-response', receipt);
  if (result['resultType'] === 'payment_required') {
    const requiredChallenge = readChallengeValue(result['paymentRequired']);
    const headers = [...receiptHeaders, ...encodeHeader('payment-required', requiredChallenge)];
    return { answer: toAnswer(402, '', headers), facts: { binding: 'extension', isError } };
  }
  const [first] = jsonList(result['content']);
  const text = jsonText(jsonObject(first)['text']) ?? '';
  const structuredChallenge = readChallengeValue(result['structuredContent']);
  const textChallenge = parseChallengeText(text);
  if (structuredChallenge === undefined && textChallenge === undefined) {
    const errorStatus = VALIDATION_WORDS.test(text) ? 422 : 500;
    const status = isError ? errorStatus : 200;
    const answer = toAnswer(status, text.slice(0, MAX_TEXT_CHARS), receiptHeaders);
    return { answer, facts: { binding: null, isError } };
  }
  const headers = [...receiptHeaders, ...encodeHeader('payment-required', structuredChallenge)];
  const answer = toAnswer(402, textChallenge === undefined ? '' : text, headers);
  return { answer, facts: { binding: 'tool-result', isError } };
}

/** Returns an HTTP error unchanged. A success without a JSON-RPC response becomes a malformed answer. */
function toUnreadable(answer: HttpObservation & { readonly ok: true }): HttpObservation {
  if (answer.data.status >= 400) return answer;
  const { ms } = answer;
  return { ok: false, reason: 'malformed', detail: 'no JSON-RPC answer to tools/call', ms };
}

function encodeHeader(name: string, value: JsonValue | undefined): HttpData['headers'] {
  if (value === undefined) return [];
  return [[name, Buffer.from(JSON.stringify(value)).toString('base64')]];
}

/** Returns the value if it is a challenge; undefined otherwise. */
function readChallengeValue(value: JsonValue | undefined): JsonObject | undefined {
  const challenge = value === undefined ? null : parseChallenge(value, 'header');
  return challenge?.value;
}

function parseChallengeText(text: string): JsonObject | undefined {
  if (!text.trimStart().startsWith('{')) return undefined;
  const parsed = parseJson(text);
  return parsed.ok ? readChallengeValue(parsed.value) : undefined;
}
