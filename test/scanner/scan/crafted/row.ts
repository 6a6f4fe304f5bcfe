/** One crafted seller and the checks that it moves, against the same seller with nothing wrong. */
import type { PayableBy } from '../../../../src/scanner/model/payability.ts';
import type { AdviceId, ScanReport } from '../../../../src/scanner/model/report.ts';
import type { JsonObject } from '../../../../src/scanner/parse/json/json.ts';
import type { CraftedAnswer } from '../../../fixtures/origins/crafted-answer.ts';
import {
  challengeAnswer,
  challengeOf,
  type Sold,
} from '../../../fixtures/origins/crafted-challenge.ts';
import type { Answering, CraftedOptions } from '../../../fixtures/origins/crafted-seller.ts';
import { WEATHER } from '../../../fixtures/sellers/seller-documents.ts';

export type Row = {
  readonly name: string;
  readonly answers: NonNullable<CraftedOptions['answers']>;
  /** "P4 fail missing": every cell that differs from the perfect seller's, in catalog order. */
  readonly moved: readonly string[];
  /** Text that the evidence of a check must contain. */
  readonly says?: Readonly<Record<string, string>>;
  readonly result?: RowResult;
};

export type RowResult = {
  readonly grade: 'A' | 'B' | 'F';
  /** Clients that can pay GET /weather; undefined if nothing is sold there. */
  readonly payableBy: PayableBy | undefined;
  readonly advice: readonly AdviceId[];
};

/** The result of a seller who is valid, and whom default clients can pay. */
export const PAID_BY_DEFAULT: RowResult = { grade: 'A', payableBy: 'default', advice: [] };

/** Leaves out the advice about CORS headers, which every seller here lacks, and no row is about them. */
export function toResult({ grade, payability, advice = [] }: ScanReport) {
  const weather = payability?.find(({ path }) => path === WEATHER.path);
  const ids = advice.map(({ id }) => id).filter((id) => id !== 'hidden-from-browsers');
  return { grade, payableBy: weather?.payableBy, advice: ids };
}

/** Outcomes of P3 to P8 if the scan saw no challenge. */
export const NO_CHALLENGE_CELLS = ['P3', 'P4', 'P5', 'P6', 'P7', 'P8'].map(
  (id) => `${id} fail prerequisite-failed`,
);
/** Outcomes of P3 to P8 if only a request that we never send would show a challenge. */
export const UNSEEN_CELLS = ['P3', 'P4', 'P5', 'P6', 'P7', 'P8'].map((id) => `${id} warn unseen`);
/** Outcomes that follow if S1 fails. */
export const NO_OPENAPI_CELLS = ['S2', 'S3', 'S4'].map((id) => `${id} fail prerequisite-failed`);

/** Outcomes that follow if the OpenAPI document exceeds our limits. */
export const UNREAD_OPENAPI_CELLS = ['S2', 'S3', 'S4'].map((id) => `${id} warn over-limit`);

export const NOT_FOUND_ANSWER: CraftedAnswer = { status: 404, body: { error: 'not found' } };

/** Answers with the usual document after `edit` changed it. */
export function editDocument(edit: (document: JsonObject) => unknown): Answering {
  return (_, usual) => ({ ...usual, body: edit(JSON.parse(String(usual.body))) });
}

/** Answers with the usual challenge after `edit` changed it. */
export function editChallenge(
  sold: Sold,
  edit: (challenge: ReturnType<typeof challengeOf>) => object,
): Answering {
  return ({ method, origin }, usual) =>
    usual.status === 402 || method === sold.method.toUpperCase()
      ? challengeAnswer(edit(challengeOf(sold, origin)))
      : usual;
}

/** Answers with the usual challenge, and with `edit` in its only offer. */
export function editOffer(sold: Sold, edit: Readonly<Record<string, unknown>>): Answering {
  return editChallenge(sold, (challenge) => ({
    ...challenge,
    accepts: challenge.accepts.map((offer) => ({ ...offer, ...edit })),
  }));
}

export function json(body: unknown): CraftedAnswer {
  return { status: 200, headers: { 'content-type': 'application/json' }, body };
}

export function plain(body: string): CraftedAnswer {
  return { status: 200, headers: { 'content-type': 'text/plain' }, body };
}

export function page(body: string): CraftedAnswer {
  return { status: 200, headers: { 'content-type': 'text/html' }, body };
}
