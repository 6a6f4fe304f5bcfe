/** The context in which tests ask third parties. */

import { type RequestContext, startDeadline } from '../../../src/scanner/indexes/ask.ts';
import { tryParseJson } from '../../../src/scanner/model/json.ts';
import {
  type AnswerParser,
  createAnswerReader,
} from '../../../src/scanner/third-parties/answer-reader.ts';

/** A test that awaits an answer uses `PATIENT_MS`. A test about a missing answer uses `SHORT_MS`. */
export const PATIENT_MS = 20_000;
export const SHORT_MS = 300;

const answers = createAnswerReader();

export function requestContext(timeoutMs = PATIENT_MS): RequestContext {
  const userAgent = 'x402-conformance-scanner/test';
  return { deadline: startDeadline(timeoutMs), userAgent, answers };
}

/** Keeps the whole answer. */
export const WHOLE: AnswerParser<unknown> = {
  module: import.meta.url,
  exportName: 'readWhole',
  parse: readWhole,
};

export function readWhole(text: string): unknown {
  return tryParseJson(text) ?? null;
}
