import { escapeLinks, toPrintedJson } from './escapes.ts';
import { type Findings, isProblem, type PrintedFinding } from './findings.ts';

/**
 * Writes SARIF 2.1.0 for code scanning: one rule for each check or trial, one result for each warning or
 * failure. https://docs.oasis-open.org/sarif/sarif/v2.1.0/
 */
export function formatSarif({
  tool,
  target,
  fingerprint,
  properties,
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
            rules: rules.map(({ id, name, description, help, properties: more }) => ({
              id,
              name,
              shortDescription: { text: escapeLinks(description) },
              help: { text: escapeLinks(help) },
              properties: more,
            })),
          },
        },
        properties,
        results: items.filter(isProblem).map((item) => ({
          ruleId: item.id,
          ruleIndex: ids.indexOf(item.id),
          level: item.status === 'fail' ? 'error' : 'warning',
          message: { text: escapeLinks(item.text) },
          locations: [{ physicalLocation: toLocation(item.place, target) }],
          partialFingerprints: { [fingerprint]: `${item.id}/${item.identity}` },
          properties: item.properties,
        })),
      },
    ],
  });
}

/** Section 3.29: a file and line if `--source` names them, else the URL of the origin. */
function toLocation(place: PrintedFinding['place'], origin: string): object {
  if (place === null) return { artifactLocation: { uri: `${origin}/` } };
  return { artifactLocation: { uri: place.file }, region: { startLine: place.line } };
}
