import { escapeLinks, toPrintedJson } from './escapes.ts';
import { type Findings, isProblem, type PrintedFinding } from './findings.ts';

/**
 * Writes SARIF 2.1.0 for code scanning: one rule for each check or trial, and one result for each
 * warning or failure. https://docs.oasis-open.org/sarif/sarif/v2.1.0/
 */
export function formatSarif({
  tool,
  target,
  fingerprintName,
  sarifProperties,
  rules,
  items,
}: Findings): string {
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
          locations: [{ physicalLocation: toSarifLocation(item.location, target) }],
          partialFingerprints: { [fingerprintName]: `${item.id}/${item.identity}` },
          properties: item.properties,
        })),
      },
    ],
  });
}

/** SARIF 2.1.0, section 3.29. A finding without a source gets the URL of the origin. */
function toSarifLocation(location: PrintedFinding['location'], origin: string): object {
  if (location === null) return { artifactLocation: { uri: `${origin}/` } };
  return { artifactLocation: { uri: location.file }, region: { startLine: location.line } };
}
