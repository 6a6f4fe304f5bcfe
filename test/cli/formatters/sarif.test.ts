import { Ajv } from 'ajv';
import { Type } from 'typebox';
import { describe, expect, test } from 'vitest';
import { FORMATS } from '../../../src/cli/formatters/formats.ts';
import { HOSTILE, PASSED, printable, RESULTS } from '../printable.ts';

const text = Type.String({ minLength: 1 });
const message = Type.Object({ text });
/** SARIF 2.1.0, sections 3.13, 3.14, 3.19, 3.27 and 3.49: members that we write. */
const sarif = Type.Object({
  $schema: Type.String({ format: 'uri' }),
  version: Type.Literal('2.1.0'),
  runs: Type.Array(
    Type.Object({
      tool: Type.Object({
        driver: Type.Object({
          name: text,
          version: text,
          rules: Type.Array(
            Type.Object({
              id: text,
              name: text,
              shortDescription: message,
              help: message,
              properties: Type.Object({}),
            }),
          ),
        }),
      }),
      results: Type.Array(
        Type.Object({
          ruleId: text,
          ruleIndex: Type.Integer({ minimum: 0 }),
          level: Type.Union([Type.Literal('error'), Type.Literal('warning')]),
          message,
          locations: Type.Array(
            Type.Object({
              physicalLocation: Type.Object({ artifactLocation: Type.Object({ uri: text }) }),
            }),
            { minItems: 1 },
          ),
          partialFingerprints: Type.Record(Type.String(), text),
        }),
      ),
    }),
    { minItems: 1, maxItems: 1 },
  ),
});
const validate = new Ajv({ formats: { uri: (value: string) => URL.canParse(value) } }).compile(
  sarif,
);

type Finding = { ruleId: string; level: string; message: { text: string } };

function runOf(scan = printable()) {
  const log = JSON.parse(FORMATS.sarif(scan));
  expect({ errors: validate(log) ? null : validate.errors }).toEqual({ errors: null });
  return log.runs[0];
}

describe('SARIF', () => {
  test('has a rule for each check, and a result for each finding', () => {
    const { tool, results, properties } = runOf();
    expect(tool.driver.rules.map(({ id }: { id: string }) => id)).toEqual(
      RESULTS.map(({ id }) => id),
    );
    const findings = results.map((one: Finding) => [one.ruleId, one.level, one.message.text]);
    expect(findings).toEqual([
      ['P1', 'error', 'GET /: connection refused. Start the server.'],
      ['P2', 'error', 'Not evaluated, see P1: connection refused. Correct what P1 names.'],
      ['S7', 'warning', 'no ">" line below "# A". Add a summary.'],
    ]);
    expect(properties).toMatchObject({ origin: 'https://api.example.com', grade: 'F', score: 0 });
  });

  test('describes a rule by the sentence of its check', () => {
    const [first, second] = runOf().tool.driver.rules;
    expect(first.shortDescription.text).toBe('The origin answers over HTTPS.');
    expect(second.shortDescription.text).toBe(RESULTS[1]?.title);
  });

  test('points each result to its rule', () => {
    const { tool, results } = runOf();
    for (const { ruleId, ruleIndex } of results) {
      expect(tool.driver.rules[ruleIndex].id).toBe(ruleId);
    }
  });

  test('identifies a finding by check and outcome, so that its evidence may change', () => {
    const [first] = runOf().results;
    expect(first.partialFingerprints).toEqual({ 'finding/v1': 'P1/refused' });
    expect(first.locations[0].physicalLocation.artifactLocation.uri).toBe(
      'https://api.example.com/',
    );
  });

  test('has an empty list of results if nothing fails', () => {
    expect(runOf(printable({ printed: [PASSED] })).results).toEqual([]);
  });

  test('keeps hostile evidence as text', () => {
    const [first] = runOf(printable({ printed: [HOSTILE] })).results;
    const text = first.message.text.replaceAll(/\\([\\[\]])/g, '$1');
    expect(text).toBe(`${HOSTILE.evidence}. ${HOSTILE.fix}`);
  });
});
