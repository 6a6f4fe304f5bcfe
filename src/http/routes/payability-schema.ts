import { type TSchema, Type } from 'typebox';
import { ADVICE_IDS } from '../../model/advice.ts';
import { OFFER_VERDICTS, OTHER_PROTOCOLS, PAYABLE_BY } from '../../model/payability.ts';

const oneOf = <T extends string>(values: readonly T[], description: string) =>
  Type.Unsafe<T>({ type: 'string', enum: [...values], description });
const nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()]);
const shown = nullable(Type.String());

const payableBy = oneOf(
  PAYABLE_BY,
  'Whose client can pay: one as its quickstart sets it up, one with further settings, not known, nobody.',
);

/** Payability of an origin: that of its best resource. */
export const payableBySchema = nullable(payableBy);

export const payabilitySchema = nullable(
  Type.Array(
    Type.Object({
      method: Type.String(),
      path: Type.String(),
      payableBy,
      words: nullable(
        Type.String({ description: 'What the default client says, where it does not sign.' }),
      ),
      offers: Type.Array(
        Type.Object({
          pointer: Type.String({ description: 'Into the challenge: "/accepts/0".' }),
          scheme: shown,
          network: shown,
          asset: shown,
          amount: shown,
          client: nullable(Type.String({ description: 'The package that was asked.' })),
          verdict: oneOf(
            OFFER_VERDICTS,
            'Given alone to a client with every scheme: it signs, it signs once spend controls are lifted, it refuses, no client here has the scheme there.',
          ),
          words: nullable(
            Type.String({ description: "The client's own words, at most 200 characters." }),
          ),
        }),
      ),
    }),
  ),
);

export const clientsSchema = Type.Array(
  Type.Object({ name: Type.String(), version: Type.String() }),
);

export const adviceSchema = Type.Array(
  Type.Object({
    id: oneOf(ADVICE_IDS, 'What no check grades, by a stable short name.'),
    evidence: Type.String(),
    fix: Type.String(),
  }),
);

export const otherWaysSchema = Type.Array(
  Type.Object({
    method: Type.String(),
    path: Type.String(),
    protocol: oneOf(
      OTHER_PROTOCOLS,
      'The protocol that the 402 speaks, beside x402 or in its place.',
    ),
    methods: Type.Array(Type.String(), {
      description:
        'Payment methods that MPP names, such as "tempo": text of the seller, at most five.',
    }),
  }),
  { description: 'Other protocols that this origin sells over. No check grades it.' },
);
