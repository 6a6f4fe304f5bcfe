import type { NamedPath } from '../../model/report.ts';
import type { SourceLocation } from '../sources.ts';
import { escapeLinks, toPrintedJson } from './escapes.ts';
import {
  type Findings,
  findFaultyNamed,
  isProblem,
  NAMED_RULE,
  toFallbackLocation,
} from './findings.ts';

/**
 * Writes SARIF 2.1.0 for code scanning: one rule for each check or trial, and one result for each
 * warning or failure. https://docs.oasis-open.org/sarif/sarif/v2.1.0/
 */
export function formatSarif(findings: Findings): string {
  const { tool, fingerprintName, sarifProperties, rules, items } = findings;
  const ids = rules.map(({ id }) => id);
  const named = findFaultyNamed(findings);
  return toPrintedJson({
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [
      {
        tool: {
          driver: {
            ...tool,
            rules: [
              ...rules.map(({ id, name, description, help, properties }) => ({
                id,
                name,
                shortDescription: { text: escapeLinks(description) },
                help: { text: escapeLinks(help) },
                properties,
              })),
              ...(named === null ? [] : [NAMED_RULE_TEXT]),
            ],
          },
        },
        properties: sarifProperties,
        results: [
          ...items.filter(isProblem).map((item) => ({
            ruleId: item.id,
            ruleIndex: ids.indexOf(item.id),
            level: item.status === 'fail' ? 'error' : 'warning',
            message: { text: escapeLinks(item.text) },
            locations: [
              { physicalLocation: toSarifLocation(item.location ?? toFallbackLocation(findings)) },
            ],
            partialFingerprints: { [fingerprintName]: `${item.id}/${item.identity}` },
            properties: item.properties,
          })),
          ...(named === null ? [] : [toNamedResult(named, findings)]),
        ],
      },
    ],
  });
}

const NAMED_RULE_TEXT = {
  id: NAMED_RULE,
  name: 'named-path',
  shortDescription: { text: 'What the path answered that the command named. It moves no grade.' },
  help: { text: 'Guard the path with the payment middleware, or name another path.' },
};

/** A note: code scanning shows results, and no properties of a run. */
function toNamedResult({ method, path, words }: NamedPath, findings: Findings): object {
  return {
    ruleId: NAMED_RULE,
    ruleIndex: findings.rules.length,
    level: 'note',
    message: { text: escapeLinks(words) },
    locations: [{ physicalLocation: toSarifLocation(toFallbackLocation(findings)) }],
    partialFingerprints: { [findings.fingerprintName]: `${NAMED_RULE}/${method} ${path}` },
  };
}

/**
 * SARIF 2.1.0, section 3.29. Code scanning matches only relative URIs with files, and refuses a whole upload for one
 * address with another scheme than that of the checkout.
 */
function toSarifLocation({ file, line }: SourceLocation): object {
  const uri = file.split('/').map(encodeURIComponent).join('/');
  return { artifactLocation: { uri }, region: { startLine: line } };
}
