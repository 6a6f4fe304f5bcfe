/**
 * Turns a tool's answer (to a call without payment) into an HTTP answer, because checks and clients read those. Both
 * bindings of specs/transports-v2/mcp.md become a 402. Its PAYMENT-REQUIRED header is the structured challenge, its
 * body is the text of the result, and its PAYMENT-RESPONSE header is `_meta["x402/payment-response"]`.
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
const NO_FACTS: ToolAnswerReading['facts'] = { binding: null, isError: null };

type AnswerMaker = (
  status: number,
  text: string,
  paymentHeaders?: HttpData['headers'],
) => HttpObservation;

export function readToolAnswer(answer: HttpObservation, id: number): ToolAnswerReading {
  if (!answer.ok || answer.data.status === 402) return { answer, facts: NO_FACTS };
  const response = findRpcResponse(answer.data, id);
  if (response === null) return { answer: toUnreadable(answer), facts: NO_FACTS };
  const toAnswer: AnswerMaker = (status, text, paymentHeaders = []) => ({
    ...answer,
    truncated: false,
    data: replaceAnswer(answer.data, status, text, paymentHeaders),
  });
  if (isJsonObject(response['error'])) {
    const { code, data, message } = response['error'];
    const challenge = code === PAYMENT_REQUIRED_CODE ? toChallenge(data) : null;
    if (challenge !== null)
      return { answer: toAnswer(402, JSON.stringify(challenge)), facts: NO_FACTS };
    const status = INVALID_CALL_CODES.has(code) ? 422 : 500;
    return { answer: toAnswer(status, jsonText(message) ?? ''), facts: NO_FACTS };
  }
  return readResult(jsonObject(response['result']), toAnswer);
}

function readResult(result: JsonObject, toAnswer: AnswerMaker): ToolAnswerReading {
  const isError = result['isError'] === true;
  const receipt = jsonObject(result['_meta'])['x402/payment-response'];
  const receipts = receipt === undefined ? [] : [encodeHeader('payment-response', receipt)];
  if (result['resultType'] === 'payment_required') {
    const required = toChallenge(result['paymentRequired']);
    const headers =
      required === null ? receipts : [...receipts, encodeHeader('payment-required', required)];
    return { answer: toAnswer(402, '', headers), facts: { binding: 'extension', isError } };
  }
  const [first] = jsonList(result['content']);
  const text = jsonText(jsonObject(first)['text']) ?? '';
  const structured = toChallenge(result['structuredContent']);
  const textChallenge = parseChallengeText(text);
  if (structured === null && textChallenge === null) {
    const errorStatus = VALIDATION_WORDS.test(text) ? 422 : 500;
    const answer = toAnswer(isError ? errorStatus : 200, text.slice(0, MAX_TEXT_CHARS), receipts);
    return { answer, facts: { binding: null, isError } };
  }
  const headers =
    structured === null ? receipts : [...receipts, encodeHeader('payment-required', structured)];
  const answer = toAnswer(402, textChallenge === null ? '' : text, headers);
  return { answer, facts: { binding: 'tool-result', isError } };
}

/** Returns an HTTP error unchanged. A success without a JSON-RPC response becomes a malformed answer. */
function toUnreadable(answer: HttpObservation & { readonly ok: true }): HttpObservation {
  if (answer.data.status >= 400) return answer;
  const { ms } = answer;
  return { ok: false, reason: 'malformed', detail: 'no JSON-RPC answer to tools/call', ms };
}

function replaceAnswer(
  data: HttpData,
  status: number,
  body: string,
  paymentHeaders: HttpData['headers'],
): HttpData {
  const { bodyFailure: _, ...kept } = data;
  // The payment headers of the HTTP answer belong to the endpoint, not to the tool.
  const otherHeaders = data.headers.filter(([name]) => !/^(?:x-)?payment-/.test(name));
  return { ...kept, status, headers: [...otherHeaders, ...paymentHeaders], body };
}

function encodeHeader(name: string, value: JsonValue): readonly [string, string] {
  return [name, Buffer.from(JSON.stringify(value)).toString('base64')];
}

function toChallenge(value: JsonValue | undefined): JsonObject | null {
  if (value === undefined || parseChallenge(value, 'header') === null) return null;
  return jsonObject(value);
}

function parseChallengeText(text: string): JsonObject | null {
  if (!text.trimStart().startsWith('{')) return null;
  const parsed = parseJson(text);
  return parsed.ok ? toChallenge(parsed.value) : null;
}
