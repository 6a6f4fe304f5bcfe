import { escapeLinks } from './escape-links.ts';
import { toPrintedJson } from './workflow-commands.ts';

export type SarifRule = {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly help: string;
  readonly properties?: object;
};

export type SarifResult = {
  readonly ruleId: string;
  readonly isFailure: boolean;
  readonly text: string;
  /** SARIF 2.1.0, section 3.29. */
  readonly physicalLocation: object;
  readonly fingerprints: Readonly<Record<string, string>>;
  readonly properties: object;
};

export type SarifRun = {
  readonly tool: { readonly name: string; readonly version?: string };
  readonly rules: readonly SarifRule[];
  readonly properties: object;
  readonly results: readonly SarifResult[];
};

/** Writes SARIF 2.1.0 for code scanning. https://docs.oasis-open.org/sarif/sarif/v2.1.0/ */
export function writeSarif({ tool, rules, properties, results }: SarifRun): string {
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
        results: results.map((result) => ({
          ruleId: result.ruleId,
          ruleIndex: ids.indexOf(result.ruleId),
          level: result.isFailure ? 'error' : 'warning',
          message: { text: escapeLinks(result.text) },
          locations: [{ physicalLocation: result.physicalLocation }],
          partialFingerprints: result.fingerprints,
          properties: result.properties,
        })),
      },
    ],
  });
}

export function toUrlLocation(origin: string): object {
  return { artifactLocation: { uri: `${origin}/` } };
}
