import { Type } from 'typebox';
import { CATEGORIES } from '../../model/categories.ts';

const nullableText = (description: string) =>
  Type.Unsafe<string | null>({ type: ['string', 'null'], description });

export const gradeSchema = Type.Unsafe<'A' | 'B' | 'C' | 'D' | 'F'>({
  type: 'string',
  enum: ['A', 'B', 'C', 'D', 'F'],
});

export const scoreSchema = Type.Integer({ minimum: 0, maximum: 100 });

export const instantSchema = Type.String({ format: 'date-time', description: 'ISO 8601, UTC.' });

const signalsSchema = Type.Object({
  registeredIndex: Type.Boolean({ description: 'Registered in a public x402 resource index.' }),
  hasRecentSettlement: Type.Unsafe<true | null>({
    type: ['boolean', 'null'],
    description: 'Recent settlement observed on chain; null is not observed, and proves nothing.',
  }),
  indexOwnershipVerified: Type.Boolean({ description: 'Ownership verified in that index.' }),
  onEcosystemListing: Type.Boolean({ description: "On the protocol's public ecosystem listing." }),
});

/** Members of a directory record (interface spec 2.3). */
export const projectProperties = {
  host: Type.String(),
  displayName: Type.String({ description: 'Unverified text copied from the origin.' }),
  description: Type.String({ description: 'Unverified text copied from the origin.' }),
  category: Type.Unsafe<string>({ type: 'string', enum: [...CATEGORIES] }),
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

export const projectSchema = Type.Object(projectProperties);

/** Stands beside every record or list of records. */
export const noticeProperties = {
  disclaimer: Type.String(),
  provenance: Type.String(),
};
