import { Type as Typebox } from 'typebox';
import { expect, test } from 'vitest';
import { Type } from '../../src/probe/schema-terms.ts';

/** Every term that recordings are described in, by either. */
function described(type: typeof Type) {
  return type.Object({
    text: type.String({ pattern: '^a' }),
    number: type.Number({ minimum: 0 }),
    count: type.Integer({ maximum: 9 }),
    flag: type.Optional(type.Boolean()),
    either: type.Union([type.Literal('a'), type.Literal(1), type.Literal(true), type.Null()]),
    list: type.Optional(type.Array(type.String(), { minItems: 1 })),
    pairs: type.Array(type.Tuple([type.String(), type.String()])),
    none: type.Object({ maybe: type.Optional(type.String()) }),
  });
}

test('the terms of schemas are those of typebox', () => {
  const theirs = described(Typebox as unknown as typeof Type); // called alike
  expect(JSON.parse(JSON.stringify(described(Type)))).toEqual(JSON.parse(JSON.stringify(theirs)));
});
