/**
 * Converts a tool's answer to an unpaid call to HTTP form: both bindings of specs/transports-v2/mcp.md
 * become the 402 that checks and clients read. The structured challenge becomes PAYMENT-REQUIRED, the
 * text beside it the body, and `_meta["x402/payment-response"]` PAYMENT-RESPONSE.
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
import { rpcResponse } from './tool-list.ts';

export type ToolAnswerReading = {
  readonly answer: HttpObservation;
  readonly facts: Pick<ToolFacts, 'binding' | 'isError'>;
};

/** JSON-RPC error codes of calls that are refused before the tool runs. */
const REFUSED_CODES: ReadonlySet<JsonValue | undefined> = new Set([-32_600, -32_602]);
/** Older SDKs answer with this error and put the challenge into its data. */
const PAYMENT_REQUIRED_CODE = 402;
/** SDKs report invalid arguments as a result that is an error. */
const VALIDATION_WORDS = /-32602|validation|invalid (?:argument|input|param)|required propert/i;
const MAX_TEXT_CHARS = 16_384;
const NO_FACTS: ToolAnswerReading['facts'] = { binding: null, isError: null };

export function readToolAnswer(answer: HttpObservation, id: number): ToolAnswerReading {
  if (!answer.ok || answer.data.status === 402) return { answer: answer, facts: NO_FACTS };
  const response = rpcResponse(answer.data, id);
  if (response === null) return { answer: withoutResponse(answer), facts: NO_FACTS };
  const toAnswer = (
    status: number,
    text: string,
    more: HttpData['headers'] = [],
  ): HttpObservation => ({
    ...answer,
    truncated: false,
    data: withAnswer(answer.data, status, text, more),
  });
  if (isJsonObject(response['error'])) {
    const { code, data, message } = response['error'];
    const challenge = code === PAYMENT_REQUIRED_CODE ? asChallenge(data) : null;
    if (challenge !== null)
      return { answer: toAnswer(402, JSON.stringify(challenge)), facts: NO_FACTS };
    const status = REFUSED_CODES.has(code) ? 422 : 500;
    return { answer: toAnswer(status, jsonText(message) ?? ''), facts: NO_FACTS };
  }
  return readResult(jsonObject(response['result']), toAnswer);
}

function readResult(
  result: JsonObject,
  toAnswer: (status: number, text: string, more?: HttpData['headers']) => HttpObservation,
): ToolAnswerReading {
  const isError = result['isError'] === true;
  const receipt = jsonObject(result['_meta'])['x402/payment-response'];
  const receipts = receipt === undefined ? [] : [header('payment-response', receipt)];
  if (result['resultType'] === 'payment_required') {
    const required = asChallenge(result['paymentRequired']);
    const more = required === null ? receipts : [...receipts, header('payment-required', required)];
    return { answer: toAnswer(402, '', more), facts: { binding: 'extension', isError } };
  }
  const [first] = jsonList(result['content']);
  const text = jsonText(jsonObject(first)['text']) ?? '';
  const structured = asChallenge(result['structuredContent']);
  const inText = parsedChallenge(text);
  if (structured === null && inText === null) {
    const refused = VALIDATION_WORDS.test(text) ? 422 : 500;
    const answer = toAnswer(isError ? refused : 200, text.slice(0, MAX_TEXT_CHARS), receipts);
    return { answer, facts: { binding: null, isError } };
  }
  const more =
    structured === null ? receipts : [...receipts, header('payment-required', structured)];
  const answer = toAnswer(402, inText === null ? '' : text, more);
  return { answer, facts: { binding: 'tool-result', isError } };
}

/** Returns HTTP errors unchanged; a success without a JSON-RPC response counts as no answer. */
function withoutResponse(answer: HttpObservation & { readonly ok: true }): HttpObservation {
  if (answer.data.status >= 400) return answer;
  const { ms } = answer;
  return { ok: false, reason: 'malformed', detail: 'no JSON-RPC answer to tools/call', ms };
}

function withAnswer(
  data: HttpData,
  status: number,
  body: string,
  more: HttpData['headers'],
): HttpData {
  const { bodyFailure: _, ...rest } = data;
  // HTTP payment headers belong to the endpoint, not to the tool.
  const own = data.headers.filter(([name]) => !/^(?:x-)?payment-/.test(name));
  return { ...rest, status, headers: [...own, ...more], body };
}

function header(name: string, value: JsonValue): readonly [string, string] {
  return [name, Buffer.from(JSON.stringify(value)).toString('base64')];
}

function asChallenge(value: JsonValue | undefined): JsonObject | null {
  if (value === undefined || parseChallenge(value, 'header') === null) return null;
  return jsonObject(value);
}

function parsedChallenge(text: string): JsonObject | null {
  if (!text.trimStart().startsWith('{')) return null;
  const read = parseJson(text);
  return read.ok ? asChallenge(read.value) : null;
}
