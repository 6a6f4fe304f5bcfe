/** Parses the answers of facilitators and keeps the members that we use. A worker parses long answers. */
import { type AnswerParser, tryParseJson } from '../../answers/answer-reader.ts';
import { readMembers } from '../../model/json.ts';
import type { SupportedKind } from './facilitator.ts';

export type FacilitatorAnswer = {
  /** `isValid` of a verify answer, or `success` of a settle answer; null if the answer has neither. */
  readonly isSuccess: boolean | null;
  /** `invalidReason` or `errorReason`. */
  readonly reason?: string;
  readonly payer?: string;
  readonly transaction?: string;
  readonly network?: string;
  /** Start of the answer, quoted in error messages. */
  readonly excerpt: string;
};

const MODULE = new URL('./facilitator-answers.ts', import.meta.url).href;
const MAX_MEMBER_CHARS = 1_000;
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
    ...toTextMember('reason', typeof reason === 'string' ? reason : null),
    // A value of a wrong type becomes a text too, so that it does not count as absent.
    ...toTextMember('payer', answer['payer']),
    ...toTextMember('transaction', answer['transaction']),
    ...toTextMember('network', answer['network']),
    excerpt: text.slice(0, MAX_EXCERPT_CHARS).replaceAll(/\s+/g, ' ').trim(),
  };
}

/** Null if the answer has no list of kinds. */
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

function toTextMember<Name extends string>(name: Name, value: unknown) {
  const hasValue = value !== undefined && value !== null;
  const text = hasValue ? { [name]: String(value).slice(0, MAX_MEMBER_CHARS) } : {};
  return text as { readonly [name in Name]?: string }; // the computed name is `Name`
}
