import { Ajv } from 'ajv';
import { Type } from 'typebox';
import { describe, expect, test } from 'vitest';
import { FORMATS } from '../../../src/cli/formatters/formats.ts';
import { HOSTILE, PASSED, printable, RESULTS } from '../printable.ts';

const text = Type.String({ minLength: 1 });
const message = Type.Object({ text });
/** Members of SARIF 2.1.0 that we write; see sections 3.13, 3.14, 3.19, 3.27 and 3.49. */
const SARIF_SCHEMA = Type.Object({
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
  SARIF_SCHEMA,
);

type Finding = { ruleId: string; level: string; message: { text: string } };

function formatRun(scan = printable()) {
  const log = JSON.parse(FORMATS.sarif(scan));
  expect({ errors: validate(log) ? null : validate.errors }).toEqual({ errors: null });
  return log.runs[0];
}

describe('SARIF', () => {
  test('has a rule for each check, and a result for each finding', () => {
    const { tool, results, properties } = formatRun();
    expect(tool.driver.rules.map(({ id }: { id: string }) => id)).toEqual(
      RESULTS.map(({ id }) => id),
    );
    const findings = results.map((finding: Finding) => [
      finding.ruleId,
      finding.level,
      finding.message.text,
    ]);
    expect(findings).toEqual([
      ['P1', 'error', 'GET /: connection refused. Start the server.'],
      ['P2', 'error', 'Not evaluated, see P1: connection refused. Correct what P1 names.'],
      ['S7', 'warning', 'no ">" line below "# A". Add a summary.'],
    ]);
    expect(properties).toMatchObject({ origin: 'https://api.example.com', grade: 'F', score: 0 });
  });

  test('describes a rule with the description of its check, else with the title', () => {
    const [firstRule, secondRule] = formatRun().tool.driver.rules;
    expect(firstRule.shortDescription.text).toBe('The origin answers over HTTPS.');
    expect(secondRule.shortDescription.text).toBe(RESULTS[1]?.title);
  });

  test('points each result to its rule', () => {
    const { tool, results } = formatRun();
    for (const { ruleId, ruleIndex } of results) {
      expect(tool.driver.rules[ruleIndex].id).toBe(ruleId);
    }
  });

  test('has a fingerprint of check and outcome, which does not depend on the evidence', () => {
    const [firstResult] = formatRun().results;
    expect(firstResult.partialFingerprints).toEqual({ 'finding/v1': 'P1/refused' });
    expect(firstResult.locations[0].physicalLocation.artifactLocation.uri).toBe('README.md');
  });

  test('has an empty list of results if nothing fails', () => {
    expect(formatRun(printable({ printed: [PASSED] })).results).toEqual([]);
  });

  test('keeps hostile evidence as text', () => {
    const [firstResult] = formatRun(printable({ printed: [HOSTILE] })).results;
    const text = firstResult.message.text.replaceAll(/\\([\\[\]])/g, '$1');
    expect(text).toBe(`${HOSTILE.evidence}. ${HOSTILE.fix}`);
  });
});
