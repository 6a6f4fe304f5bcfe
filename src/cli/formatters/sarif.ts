/**
 * SARIF 2.1.0 for code scanning: one rule a check, one result a warning or failure. Locations are
 * URLs of the origin, because there is no source file. https://docs.oasis-open.org/sarif/sarif/v2.1.0/
 */
import type { CheckResult } from '../../model/report.ts';
import type { Printable } from './formats.ts';

export function formatSarif({ report, printed }: Printable): string {
  const findings = printed.filter(
    ({ status, basis }) => status !== 'pass' && basis !== 'not_determined',
  );
  const log = {
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [
      {
        tool: {
          driver: {
            name: 'x402-conformance-scanner',
            version: report.checksVersion,
            rules: printed.map(toRule),
          },
        },
        properties: {
          origin: report.origin,
          grade: report.grade,
          score: report.score,
          scannedAt: report.scannedAt,
        },
        results: findings.map((finding) => toResult(finding, report.origin, printed)),
      },
    ],
  };
  return `${JSON.stringify(log, null, 2)}\n`;
}

function toRule(result: CheckResult) {
  return {
    id: result.id,
    name: result.title,
    shortDescription: { text: result.title },
    help: { text: result.fix },
    properties: { category: result.category, severity: result.severity },
  };
}

function toResult(finding: CheckResult, origin: string, printed: readonly CheckResult[]) {
  return {
    ruleId: finding.id,
    ruleIndex: printed.indexOf(finding),
    level: finding.status === 'fail' ? 'error' : 'warning',
    message: { text: `${finding.evidence} ${finding.fix}` },
    locations: [{ physicalLocation: { artifactLocation: { uri: `${origin}/` } } }],
    partialFingerprints: { 'finding/v1': `${finding.id}/${finding.outcome}` },
    properties: { outcome: finding.outcome, basis: finding.basis },
  };
}
