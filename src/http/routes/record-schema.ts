import { Type } from 'typebox';
import type { Revision } from '../../config/revision.ts';
import {
  DAY_WORDS,
  PAYABLE_BY,
  type PayableBy,
  type PriceFrom,
  SHOWN_DAYS,
} from '../../model/payability.ts';
import { ALL_GRADES, CATEGORIES } from '../../model/report.ts';
import { oneOf } from '../../model/shapes.ts';

const nullableText = (description: string) =>
  Type.Unsafe<string | null>({ type: ['string', 'null'], description });

export const gradeSchema = oneOf(ALL_GRADES);

export const scoreSchema = Type.Integer({ minimum: 0, maximum: 100 });

export const instantSchema = Type.String({ format: 'date-time', description: 'ISO 8601, UTC.' });

const signalsSchema = Type.Object({
  registeredIndex: Type.Boolean({
    description: 'The origin is registered in a public x402 resource index.',
  }),
  hasRecentSettlement: Type.Unsafe<true | null>({
    type: ['boolean', 'null'],
    description:
      'True if a recent settlement was observed on chain. null means that no settlement was observed, which does not prove that there was none.',
  }),
  indexOwnershipVerified: Type.Boolean({
    description: 'The ownership of the origin is verified in such an index.',
  }),
  onEcosystemListing: Type.Boolean({
    description: "The origin is on the protocol's public ecosystem listing.",
  }),
});

/** Members of a directory record in every revision. */
const PROJECT_PROPERTIES = {
  host: Type.String(),
  displayName: Type.String({ description: 'Unverified text copied from the origin.' }),
  description: Type.String({ description: 'Unverified text copied from the origin.' }),
  category: oneOf<string>(CATEGORIES),
  iconUrl: nullableText('Unverified link.'),
  ogImageUrl: nullableText('Unverified link.'),
  grade: gradeSchema,
  score: scoreSchema,
  verified: Type.Boolean({ description: 'An owner has proved domain control.' }),
  featured: Type.Boolean({ description: 'Graded A within the last 30 days.' }),
  lastScannedAt: instantSchema,
  signals: signalsSchema,
  reportUrl: Type.String(),
};

/** Members of every answer that has one or more directory records. */
export const noticeProperties = { disclaimer: Type.String(), provenance: Type.String() };

const dayCountSchema = (description: string) =>
  Type.Integer({ minimum: 0, maximum: SHOWN_DAYS, description });

const availabilitySchema = Type.Unsafe({
  ...Type.Object({
    today: Type.Unsafe<string | null>({
      type: ['string', 'null'],
      enum: [...DAY_WORDS, null],
      description: 'The newest result of the last 36 hours; null if there was none.',
    }),
    payableDays: dayCountSchema('Days on which a default client could pay.'),
    checkedDays: dayCountSchema('Days with a result other than not_checked.'),
    days: Type.String({
      pattern: `^[pnd-]{${SHOWN_DAYS}}$`,
      description: `One letter for each UTC day, newest last: p payable, n not payable, d down, - not checked or not yet.`,
    }),
  }),
  type: ['object', 'null'],
  description: 'The results of the daily census; null if the census never checked the host.',
});

const payersProperties = {
  payableBy: Type.Unsafe<PayableBy | null>({
    type: ['string', 'null'],
    enum: [...PAYABLE_BY, null],
    description:
      'The official clients that can pay: "default" (with their default settings), "settings" (only with other settings), "unknown" or "nobody"; null if the scan saw no payment challenge.',
  }),
  priceFrom: Type.Unsafe<PriceFrom | null>({
    ...Type.Object({
      amount: Type.String({ description: 'Base units of the asset.' }),
      asset: Type.String(),
      network: Type.String({ description: 'As the offer names it, such as eip155:8453.' }),
    }),
    type: ['object', 'null'],
    description:
      'The lowest price that an official client can pay, in an asset that this service knows; null if the scan saw none.',
  }),
};

/** Adds the members of later revisions before the last member. */
export function toProjectProperties({
  showsCensus,
  showsPayers,
}: Pick<Revision, 'showsCensus' | 'showsPayers'>) {
  const { reportUrl, ...properties } = PROJECT_PROPERTIES;
  return {
    ...properties,
    ...(showsPayers ? payersProperties : {}),
    ...(showsCensus ? { availability: availabilitySchema } : {}),
    reportUrl,
  };
}
