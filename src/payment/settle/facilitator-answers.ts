/** Reads the members of a facilitator's answers that we use; it runs on a worker if they are long. */
import { type AnswerParser, tryParseJson } from '../../answers/answer-reader.ts';
import { readMembers } from '../../model/json.ts';
import type { SupportedKind } from './facilitator.ts';

export type FacilitatorAnswer = {
  /** `isValid` of verify, `success` of settle; null if the answer has neither. */
  readonly isSuccess: boolean | null;
  /** `invalidReason`, or `errorReason`. */
  readonly reason?: string;
  readonly payer?: string;
  readonly transaction?: string;
  readonly network?: string;
  /** The start of the answer, for messages. */
  readonly excerpt: string;
};

const MODULE = new URL('./facilitator-answers.ts', import.meta.url).href;
const MAX_TEXT_CHARS = 1_000;
const MAX_EXCERPT_CHARS = 200;
const MAX_KINDS = 10_000;

export const FACILITATOR_ANSWER_PARSER: AnswerParser<FacilitatorAnswer> = {
  module: MODULE,
  exportName: 'readFacilitatorAnswer',
  parse: readFacilitatorAnswer,
};

export const SUPPORTED_KINDS_PARSER: AnswerParser<readonly SupportedKind[] | null> = {
  module: MODULE,
  exportName: 'readSupportedKinds',
  parse: readSupportedKinds,
};

export function readFacilitatorAnswer(text: string): FacilitatorAnswer {
  const answer = readMembers(tryParseJson(text));
  const reason = answer['invalidReason'] ?? answer['errorReason'];
  const isSuccess = answer['isValid'] ?? answer['success'];
  return {
    isSuccess: typeof isSuccess === 'boolean' ? isSuccess : null,
    ...textIn('reason', typeof reason === 'string' ? reason : null),
    // A value that is not a text becomes a text that equals no other: it must not count as absent.
    ...textIn('payer', answer['payer']),
    ...textIn('transaction', answer['transaction']),
    ...textIn('network', answer['network']),
    excerpt: text.slice(0, MAX_EXCERPT_CHARS).replaceAll(/\s+/g, ' ').trim(),
  };
}

/** Null if the answer lists none. */
export function readSupportedKinds(text: string): readonly SupportedKind[] | null {
  const { kinds } = readMembers(tryParseJson(text));
  if (!Array.isArray(kinds)) return null;
  return kinds.slice(0, MAX_KINDS).flatMap((kind) => {
    const { x402Version, scheme, network } = readMembers(kind);
    const isKind =
      typeof x402Version === 'number' && typeof scheme === 'string' && typeof network === 'string';
    return isKind ? [{ x402Version, scheme, network }] : [];
  });
}

function textIn<Name extends string>(name: Name, value: unknown) {
  const isThere = value !== undefined && value !== null;
  const text = isThere ? { [name]: String(value).slice(0, MAX_TEXT_CHARS) } : {};
  return text as { readonly [name in Name]?: string }; // the computed name is `Name`
}
