import { declareDiscoveryExtension } from '@x402/extensions/bazaar';
import { describe, expect, test } from 'vitest';
import { type JsonValue, parseJson } from '../../../../src/scanner/parse/json/json.ts';
import { listSchemaErrors } from '../../../../src/scanner/parse/json/json-schema.ts';

const INPUT = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  properties: {
    type: { type: 'string', const: 'http' },
    method: { enum: ['POST', 'PUT'] },
    body: { $ref: '#/$defs/body' },
  },
  required: ['type', 'body'],
  additionalProperties: false,
  $defs: { body: { type: 'object', required: ['text'], properties: { text: { minLength: 1 } } } },
};

describe('listSchemaErrors', () => {
  test('finds no fault in a valid value', () => {
    const instance = { type: 'http', method: 'POST', body: { text: 'x' } };
    expect(listSchemaErrors(INPUT, instance)).toEqual([]);
    expect(listSchemaErrors(true, instance)).toEqual([]);
    expect(listSchemaErrors({}, null)).toEqual([]);
  });

  test.each([
    [{ type: 'http', body: {} }, /^\/body: .*"text"/],
    [{ type: 'ftp', body: { text: 'x' } }, /^\/type: /],
    [{ type: 'http', body: { text: '' } }, /^\/body\/text: .*too short/],
    [{ type: 'http', body: { text: 'x' }, more: 1 }, /^\/more: not allowed/],
    [{ body: { text: 'x' } }, /^\/: .*"type"/],
    ['text', /^\/: .*"string"/],
  ])('names the fault of %j and its place', (instance, error) => {
    expect(listSchemaErrors(INPUT, instance)[0]).toMatch(error);
  });

  test('finds the declarations of the official package valid', () => {
    const declaration = declareDiscoveryExtension({
      bodyType: 'json',
      input: { text: 'x', sentences: 3 },
      inputSchema: { properties: { text: { type: 'string' }, sentences: { type: 'integer' } } },
      output: { example: { summary: 'y' } },
    });
    const { info, schema } = Object(JSON.parse(JSON.stringify(declaration))).bazaar;
    info.input.method ??= 'POST';
    expect(listSchemaErrors(schema, info)).toEqual([]);
    const { body: _, ...inputWithoutBody } = info.input;
    expect(listSchemaErrors(schema, { ...info, input: inputWithoutBody })).not.toEqual([]);
  });

  test.each([
    [{ type: 'text' }, '/type'],
    [{ type: [], required: 'a' }, '/required'],
    [{ properties: [] }, '/properties'],
    [{ properties: { a: 1 } }, '/properties/a'],
    [{ anyOf: [] }, '/anyOf'],
    [{ items: [{}] }, '/items'],
    [{ allOf: [{ minimum: '1' }] }, '/allOf/0/minimum'],
    [{ maxLength: -1 }, '/maxLength'],
    [{ exclusiveMinimum: true }, '/exclusiveMinimum'],
    [{ enum: 'a' }, '/enum'],
    [{ $defs: { 'a/b': { not: 5 } } }, '/$defs/a~1b/not'],
    [{ dependentRequired: { a: 'b' } }, '/dependentRequired'],
    [{ uniqueItems: 1 }, '/uniqueItems'],
    [{ $ref: 'https://other.example/schema' }, '/$ref'],
    [{ $ref: 'file.json#/a' }, '/$ref'],
    [{ $ref: 7 }, '/$ref'],
    ['text', 'schema /'],
    [null, 'schema /'],
    [[], 'schema /'],
  ])('reports that %j is not a schema, and where: %s', (schema, pointer) => {
    const [error] = listSchemaErrors(schema, {});
    expect(error).toContain('schema /');
    expect(error).toContain(pointer);
  });

  test.each([
    [{ $ref: '#/$defs/none' }, 'leads nowhere'],
    [{ $ref: '#/$defs/a', $defs: { a: { $ref: '#/$defs/a' } } }, 'circles'],
    [{ allOf: [{ $ref: '#' }] }, 'circles'],
    [{ $anchor: '1' }, '/$anchor'],
  ])('refuses to evaluate %j: %s', (schema, reason) => {
    expect(listSchemaErrors(schema, {})[0]).toContain(reason);
  });

  test('finds an item that occurs twice', () => {
    const uniqueItemsSchema = { items: {}, uniqueItems: true };
    expect(listSchemaErrors(uniqueItemsSchema, [{ a: 1 }, { a: 2 }])).toEqual([]);
    expect(listSchemaErrors(uniqueItemsSchema, [{ a: 1 }, { a: 1 }])).toHaveLength(1);
  });

  test('follows local references, anchors and recursive references', () => {
    const tree = {
      properties: { child: { $ref: '#' }, leaf: { $ref: '#leaf' } },
      $defs: { x: { $anchor: 'leaf', type: 'null' } },
    };
    expect(listSchemaErrors(tree, { child: { child: { leaf: null } } })).toEqual([]);
    expect(listSchemaErrors(tree, { child: { child: { leaf: 1 } } })[0]).toMatch(
      /^\/child\/child\/leaf/,
    );
    const openApiSchema = {
      components: { schemas: { A: { type: 'string' } } },
      $ref: '#/components/schemas/A',
    };
    expect(listSchemaErrors(openApiSchema, 'x')).toEqual([]);
    expect(listSchemaErrors(openApiSchema, 1)).toHaveLength(1);
  });

  test('treats a property that is named like a keyword as a property', () => {
    const schema = {
      properties: { pattern: { type: 'string' }, $ref: {}, format: { type: 'null' } },
    };
    expect(listSchemaErrors(schema, { pattern: 'x', $ref: 1, format: null })).toEqual([]);
    expect(listSchemaErrors(schema, { pattern: 1 })[0]).toMatch(/^\/pattern/);
  });

  test('judges members whose names JavaScript reserves', () => {
    const instance = parseJson('{"__proto__":{"a":1},"constructor":1}');
    const schema = parseJson(
      '{"properties":{"__proto__":{"type":"string"}},"required":["toString"]}',
    );
    const errors = listSchemaErrors(readValue(schema), readValue(instance));
    expect(errors.join('\n')).toContain('/__proto__');
    expect(listSchemaErrors({ required: ['toString'] }, {})).toHaveLength(1);
  });

  test('ignores `pattern` and `format`, because a pattern of an origin may be slow', () => {
    const slowSchema = { pattern: '^(a+)+$', format: 'email', type: 'string' };
    const instance = `${'a'.repeat(60)}!`;
    expect(listSchemaErrors(slowSchema, instance)).toEqual([]);
    expect(listSchemaErrors({ propertyNames: slowSchema }, { [instance]: 1 })).toEqual([]);
    const byPattern = { patternProperties: { '^(a+)+$': false }, additionalProperties: false };
    expect(listSchemaErrors(byPattern, { [instance]: 1 })).toEqual([]);
  });

  test('limits the number and length of errors, and removes hidden characters', () => {
    const name = `\u202E${'x'.repeat(500)}`;
    const errors = listSchemaErrors({ required: Array(50).fill(name) }, {});
    expect(errors.length).toBeLessThanOrEqual(5);
    for (const error of errors) {
      expect(error.length).toBeLessThanOrEqual(160);
      expect(error).not.toContain('\u202E');
    }
  });
});

function readValue(reading: ReturnType<typeof parseJson>): JsonValue {
  if (!reading.ok) throw new Error(reading.detail);
  return reading.value;
}
