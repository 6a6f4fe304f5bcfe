/**
 * Parts of schemas, and the schemas of a report's members. A file that every command loads may import only types from
 * here, because typebox loads slowly.
 */
import { type Static, type TProperties, type TSchema, Type } from 'typebox';
import { INDEXED_FIELDS, INDEXED_REASONS, INDEXED_STATES, INDEXES } from './indexed.ts';
import { OFFER_VERDICTS, OTHER_PROTOCOLS, PAYABLE_BY } from './payability.ts';

export const text = Type.String();
export const count = Type.Integer({ minimum: 0 });

export function nullable<T extends TSchema>(schema: T) {
  return Type.Union([schema, Type.Null()]);
}

type Described = { readonly description?: string };

export function list<T extends TSchema>(item: T, described: Described = {}) {
  return Type.Unsafe<readonly Static<T>[]>(Type.Array(item, described));
}

export function shape<P extends TProperties>(members: P, described: Described = {}) {
  return Type.Unsafe<Readonly<Static<ReturnType<typeof Type.Object<P>>>>>(
    Type.Object(members, described),
  );
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

const offerPayability = shape({
  pointer: Type.String({ description: 'Into the challenge: "/accepts/0".' }),
  /** Copied from the challenge, cleaned and cut; null when missing. */
  scheme: textOrNull,
  network: textOrNull,
  asset: textOrNull,
  amount: textOrNull,
  /** Null if no package supports the offer. */
  client: nullable(Type.String({ description: 'The package whose client was tried.' })),
  verdict: oneOf(
    OFFER_VERDICTS,
    'The verdict of a client with every scheme on this offer only: it signs, it signs once spend controls are lifted, it refuses, or no client here has the scheme.',
  ),
  /** Cleaned; null when the client signs. */
  words: nullable(Type.String({ description: "The client's own words, at most 200 characters." })),
});
export type OfferPayability = Static<typeof offerPayability>;
export type OfferTerms = Omit<OfferPayability, 'client' | 'verdict' | 'words'>;

/** A resource that answered with a challenge, with the method whose challenge was judged. */
export const resourcePayability = shape({
  method: text,
  path: text,
  payableBy,
  /** On the whole challenge; null when the default client signs. */
  words: nullable(
    Type.String({ description: 'The error of the default client, if it does not sign.' }),
  ),
  offers: list(offerPayability),
});
export type ResourcePayability = Static<typeof resourcePayability>;

/** The packages of official clients, such as "@x402/evm" 2.27.0. */
export const clientVersions = list(shape({ name: text, version: text }));
export type ClientVersion = Static<typeof clientVersions>[number];

/** Each 402 that asks for payment over another protocol, with or without an x402 challenge in the same answer. */
export const otherWays = list(
  shape({
    method: text,
    path: text,
    protocol: oneOf(
      OTHER_PROTOCOLS,
      'The protocol that the 402 speaks, beside x402 or in its place.',
    ),
    methods: list(text, {
      description:
        'Payment methods that MPP names, such as "tempo": text of the seller, at most five.',
    }),
  }),
  { description: 'Other protocols that this origin sells over. No check grades it.' },
);
export type OtherWay = Static<typeof otherWays>[number];

/** Answer of the path that the caller of the command line names. It moves no grade. */
export const namedPath = shape({
  method: text,
  /** With its query. */
  path: text,
  /** Null if there was no answer. */
  status: nullable(count),
  /** Null if the answer asks for no payment over x402. */
  payableBy: nullable(oneOf(PAYABLE_BY)),
  /** Sentences for people: what the answer was, and who can pay. */
  words: text,
});

const indexedDifference = shape({ field: oneOf(INDEXED_FIELDS), live: text, indexed: text });

const indexedReason = shape({
  code: oneOf(INDEXED_REASONS),
  evidence: text,
  check: nullableText('The check that judges this reason.'),
});

/** One row per paid resource and index. */
export const indexedRows = list(
  shape({
    index: oneOf(INDEXES),
    resource: Type.String({ description: 'The URL that was asked.' }),
    method: text,
    state: oneOf(INDEXED_STATES),
    listedAs: nullableText('The address in the index, if it differs.'),
    /** ISO 8601 */
    lastSettledAt: Type.Optional(
      Type.String({ description: 'The newest settlement in the index, if it states one.' }),
    ),
    /** `live` is the value that the origin sends, `indexed` the value in the index. Both are cleaned and cut. */
    differences: list(indexedDifference),
    /** Empty if no reason is visible from outside. */
    reasons: list(indexedReason),
  }),
  { description: 'How the Bazaar and x402scan list each paid resource. No check grades it.' },
);

/** One payment option of a challenge, cleaned and cut. A member is null if the challenge lacks it. */
const reportOffer = shape({
  scheme: textOrNull,
  /** CAIP-2; names of version 1 are converted. */
  network: textOrNull,
  asset: textOrNull,
  /** Base units. */
  amount: textOrNull,
  payTo: textOrNull,
});

const reportRoute = shape({
  /** Upper case; null if no document or answer states it. */
  method: textOrNull,
  /** With the server's base path. Null if undeclared: a requested path may be one of many that a route serves. */
  template: nullable(
    Type.String({ description: 'As declared: "/weather/{city}"; null if nothing declares it.' }),
  ),
  path: Type.String({ description: 'An example request.' }),
  /** The challenge's description, at most 500 characters. */
  description: textOrNull,
  mimeType: textOrNull,
  offers: list(reportOffer),
});

const operations = list(shape({ method: text, template: text }));

/** The routes that documents and challenges declare. */
export const routeFacts = shape(
  {
    paid: list(reportRoute),
    /** Operations whose 402 asks for a sign-in and not for a payment. */
    signIn: operations,
    /** The first OpenAPI operations that are declared free, or that answered 2xx without a payment. */
    free: operations,
    /** The first OpenAPI operations that nobody knows to be paid or free. Absent in reports of older versions. */
    unknown: Type.Optional(operations),
    /** False also if documents could not be read. */
    isComplete: Type.Boolean({ description: 'False if more exist than are listed.' }),
  },
  { description: 'The routes that patches are written from. No grade depends on them.' },
);
