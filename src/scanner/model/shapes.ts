/**
 * Parts of schemas, and the schemas of a report's members, whose types are in `report.ts`. No file that every command
 * loads may import them, because typebox loads slowly.
 */
import { type Static, type TProperties, type TSchema, Type } from 'typebox';
import { INDEXED_FIELDS, INDEXED_REASONS, INDEXED_STATES, INDEXES } from './indexed.ts';
import { OFFER_VERDICTS, OTHER_PROTOCOLS, PAYABLE_BY } from './payability.ts';
import { ADVICE_IDS } from './report.ts';

export const text = Type.String();
export const count = Type.Integer({ minimum: 0 });

export function nullable<T extends TSchema>(schema: T) {
  return Type.Union([schema, Type.Null()]);
}

export function list<T extends TSchema>(item: T) {
  return Type.Unsafe<readonly Static<T>[]>(Type.Array(item));
}

export function shape<P extends TProperties>(members: P) {
  return Type.Unsafe<Readonly<Static<ReturnType<typeof Type.Object<P>>>>>(Type.Object(members));
}

/** `documented` has schema members that only published documents have; `plugins/openapi.ts` adds them. */
export function oneOf<T extends string>(
  values: readonly T[],
  description?: string,
  documented?: object,
) {
  const described = { ...(description && { description }), ...(documented && { documented }) };
  return Type.Unsafe<T>({ type: 'string', enum: [...values], ...described });
}

const nullableText = (description: string) => Type.Union([text, Type.Null()], { description });
const textOrNull = nullable(text);

const payableBy = oneOf(
  PAYABLE_BY,
  'Who can pay: a client with the settings of its quickstart, a client with further settings, not known, nobody.',
);

/** Payability of an origin, which is the payability of its best resource. */
export const payableBySchema = nullable(payableBy);

export const resourcePayability = Type.Object({
  method: text,
  path: text,
  payableBy,
  words: nullable(
    Type.String({ description: 'The error of the default client, if it does not sign.' }),
  ),
  offers: Type.Array(
    Type.Object({
      pointer: Type.String({ description: 'Into the challenge: "/accepts/0".' }),
      scheme: textOrNull,
      network: textOrNull,
      asset: textOrNull,
      amount: textOrNull,
      client: nullable(Type.String({ description: 'The package whose client was tried.' })),
      verdict: oneOf(
        OFFER_VERDICTS,
        'The verdict of a client with every scheme on this offer only: it signs, it signs once spend controls are lifted, it refuses, or no client here has the scheme.',
      ),
      words: nullable(
        Type.String({ description: "The client's own words, at most 200 characters." }),
      ),
    }),
  ),
});

export const clientVersions = Type.Array(Type.Object({ name: text, version: text }));

export const adviceList = Type.Array(
  Type.Object({
    id: oneOf(ADVICE_IDS, 'Stable short name of a fact that no check grades.'),
    evidence: text,
    fix: text,
  }),
);

export const otherWays = Type.Array(
  Type.Object({
    method: text,
    path: text,
    protocol: oneOf(
      OTHER_PROTOCOLS,
      'The protocol that the 402 speaks, beside x402 or in its place.',
    ),
    methods: Type.Array(text, {
      description:
        'Payment methods that MPP names, such as "tempo": text of the seller, at most five.',
    }),
  }),
  { description: 'Other protocols that this origin sells over. No check grades it.' },
);

export const indexedRows = Type.Array(
  Type.Object({
    index: oneOf(INDEXES),
    resource: Type.String({ description: 'The URL that was asked.' }),
    method: text,
    state: oneOf(INDEXED_STATES),
    listedAs: nullableText('The address in the index, if it differs.'),
    lastSettledAt: Type.Optional(
      Type.String({ description: 'The newest settlement in the index, if it states one.' }),
    ),
    differences: Type.Array(
      Type.Object({ field: oneOf(INDEXED_FIELDS), live: text, indexed: text }),
    ),
    reasons: Type.Array(
      Type.Object({
        code: oneOf(INDEXED_REASONS),
        evidence: text,
        check: nullableText('The check that judges this reason.'),
      }),
    ),
  }),
  { description: 'How the Bazaar and x402scan list each paid resource. No check grades it.' },
);

const operations = Type.Array(Type.Object({ method: text, template: text }));

/** The routes that documents and challenges declare. */
export const routeFacts = Type.Object(
  {
    paid: Type.Array(
      Type.Object({
        method: textOrNull,
        template: nullable(
          Type.String({
            description: 'As declared: "/weather/{city}"; null if nothing declares it.',
          }),
        ),
        path: Type.String({ description: 'An example request.' }),
        description: textOrNull,
        mimeType: textOrNull,
        offers: Type.Array(
          Type.Object({
            scheme: textOrNull,
            network: textOrNull,
            asset: textOrNull,
            amount: textOrNull,
            payTo: textOrNull,
          }),
        ),
      }),
    ),
    signIn: operations,
    free: operations,
    unknown: Type.Optional(operations),
    isComplete: Type.Boolean({ description: 'False if more exist than are listed.' }),
  },
  { description: 'The routes that patches are written from. No grade depends on them.' },
);
