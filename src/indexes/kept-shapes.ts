/**
 * Schemas of cached third-party answers. A store or file may contain answers written by an older release
 * or by hand, so cached answers are validated like fresh ones.
 */
import { Ajv } from 'ajv';
import { Type } from 'typebox';
import type { BazaarListings, OfferOnChain, SettlementFacts } from '../model/observations.ts';
import type { Partner } from './index-answers.ts';
import { listedTermsSchema } from './listed-terms.ts';
import type { IndexRow } from './x402scan.ts';

const ajv = new Ajv();
const text = Type.String();
const maybeText = Type.Union([text, Type.Null()]);
const count = Type.Integer({ minimum: 0 });
const maybeInstant = Type.Union([Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}T' }), Type.Null()]);

export const isIndexRow = ajv.compile<IndexRow>(
  Type.Object({
    id: maybeText,
    resources: Type.Array(
      Type.Object({
        resource: text,
        method: maybeText,
        lastUpdated: maybeText,
        accepts: count,
        deprecated: Type.Boolean(),
        terms: Type.Optional(listedTermsSchema),
      }),
    ),
    elsewhere: Type.Optional(Type.Array(text)),
  }),
);

export const isBazaarListings = ajv.compile<BazaarListings>(
  Type.Object({
    resources: Type.Array(
      Type.Object({
        resource: text,
        method: maybeText,
        terms: listedTermsSchema,
        lastSettledAt: Type.Optional(maybeInstant),
      }),
    ),
    isComplete: Type.Boolean(),
  }),
);

export const isOffersOnChain = ajv.compile<readonly OfferOnChain[]>(
  Type.Array(
    Type.Object({
      network: text,
      asset: text,
      payTo: text,
      hasCode: Type.Boolean(),
      domain: Type.Union([
        Type.Object({
          agrees: Type.Boolean(),
          named: Type.Union([Type.Object({ name: text, version: text }), Type.Null()]),
        }),
        Type.Null(),
      ]),
      transferReverts: Type.Union([Type.Boolean(), Type.Null()]),
      noTokenAccount: Type.Union([Type.Boolean(), Type.Null()]),
    }),
  ),
);

export const isVerified = ajv.compile<boolean>(Type.Boolean());

export const isSettlementFacts = ajv.compile<SettlementFacts>(
  Type.Object({
    address: maybeText,
    windowDays: Type.Number({ minimum: 0 }),
    settlements: count,
    payers: count,
    lastAt: maybeInstant,
  }),
);

export const isPartners = ajv.compile<readonly Partner[]>(
  Type.Array(Type.Object({ name: maybeText, website: text })),
);
