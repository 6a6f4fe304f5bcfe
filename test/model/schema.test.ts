/** The terms of schemas, held to typebox, which nothing that starts loads. */
import { Type as Typebox } from 'typebox';
import { expect, test } from 'vitest';
import { Type } from '../../src/model/schema.ts';

/** Every term, by either. */
function described(type: typeof Type) {
  const maybe = type.Optional(type.String({ description: 'spread below' }));
  return type.Object(
    {
      text: type.String({ pattern: '^a' }),
      number: type.Number({ minimum: 0 }),
      count: type.Integer({ maximum: 9 }),
      flag: type.Optional(type.Boolean({ description: 'said' })),
      either: type.Union([type.Literal('a'), type.Literal(1), type.Literal(true), type.Null()]),
      said: type.Union([type.Literal('a', { description: 'a' })], { description: 'either' }),
      list: type.Optional(type.Array(type.String(), { minItems: 1 })),
      pairs: type.Array(type.Tuple([type.String(), type.String()])),
      none: type.Object({ maybe: type.Optional(type.String()) }),
      any: type.Unknown(),
      anySaid: type.Unknown({ description: 'anything' }),
      own: type.Unsafe<'a'>({ type: 'string', enum: ['a'] }),
      ownMaybe: type.Optional(type.Unsafe<'a'>({ type: 'string', enum: ['a'] })),
      maybe,
      unsafeMaybe: type.Unsafe<string>(maybe),
      spread: { ...maybe, title: 'Required again' },
      nothing: type.Null({ description: 'nothing' }),
    },
    { additionalProperties: false, $id: 'all' },
  );
}

test('the terms of schemas are those of typebox', () => {
  expect(JSON.stringify(described(Type))).toBe(JSON.stringify(described(Typebox)));
});
