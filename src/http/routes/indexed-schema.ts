import { Type } from 'typebox';
import { INDEXED_FIELDS, INDEXED_REASONS, INDEXED_STATES, INDEXES } from '../../model/indexed.ts';

const oneOf = <T extends string>(values: readonly T[]) =>
  Type.Unsafe<T>({ type: 'string', enum: [...values] });
const nullableText = (description: string) =>
  Type.Union([Type.String(), Type.Null()], { description });

export const indexedSchema = Type.Array(
  Type.Object({
    index: oneOf(INDEXES),
    resource: Type.String({ description: 'The URL that was asked.' }),
    method: Type.String(),
    state: oneOf(INDEXED_STATES),
    listedAs: nullableText('The address in the index, where it is another.'),
    lastSettledAt: Type.Optional(
      Type.String({ description: 'The newest settlement that the index has, if it says so.' }),
    ),
    differences: Type.Array(
      Type.Object({
        field: oneOf(INDEXED_FIELDS),
        live: Type.String(),
        indexed: Type.String(),
      }),
    ),
    reasons: Type.Array(
      Type.Object({
        code: oneOf(INDEXED_REASONS),
        evidence: Type.String(),
        check: nullableText('The check that judges it.'),
      }),
    ),
  }),
  { description: 'How the Bazaar and x402scan list each paid resource. No check grades it.' },
);
