import type { SourceLocation } from '../sources.ts';
import { escapeLinks, toPrintedJson } from './escapes.ts';
import { type Findings, isProblem, toFallbackLocation } from './findings.ts';

/**
 * Writes SARIF 2.1.0 for code scanning: one rule for each check or trial, and one result for each
 * warning or failure. https://docs.oasis-open.org/sarif/sarif/v2.1.0/
 */
export function formatSarif(findings: Findings): string {
  const { tool, fingerprintName, sarifProperties, rules, items } = findings;
  const ids = rules.map(({ id }) => id);
  return toPrintedJson({
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [
      {
        tool: {
          driver: {
            ...tool,
            rules: rules.map(({ id, name, description, help, properties }) => ({
              id,
              name,
              shortDescription: { text: escapeLinks(description) },
              help: { text: escapeLinks(help) },
              properties,
            })),
          },
        },
        properties: sarifProperties,
        results: items.filter(isProblem).map((item) => ({
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
      },
    ],
  });
}

/**
 * SARIF 2.1.0, section 3.29. Code scanning matches only relative URIs with files, and refuses a whole upload for one
 * address with another scheme than that of the checkout.
 */
function toSarifLocation({ file, line }: SourceLocation): object {
  const uri = file.split('/').map(encodeURIComponent).join('/');
  return { artifactLocation: { uri }, region: { startLine: line } };
}
