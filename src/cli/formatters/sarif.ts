/**
 * SARIF 2.1.0 for code scanning: one rule for each check, one result for each warning or failure. A
 * location is a file and line where `--source` gives one, else the URL of the origin.
 * https://docs.oasis-open.org/sarif/sarif/v2.1.0/
 */
import type { CheckResult } from '../../model/report.ts';
import { answerLine } from '../../payable/answer-line.ts';
import type { SourceLocation } from '../sources.ts';
import { escapeLinks } from './escape-links.ts';
import { findingText, selectFindings } from './findings.ts';
import type { Printable } from './printable.ts';
import { toPrintedJson } from './workflow-commands.ts';

export function formatSarif({ report, printed, rules, locate }: Printable): string {
  const log = {
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [
      {
        tool: {
          driver: {
            name: 'x402-conformance-scanner',
            version: report.checksVersion,
            rules: printed.map((result) => toRule(result, rules.get(result.id))),
          },
        },
        properties: {
          origin: report.origin,
          grade: report.grade,
          score: report.score,
          scannedAt: report.scannedAt,
          answer: answerLine(report),
          payableBy: report.payableBy,
          payability: report.payability,
          clients: report.clients,
          advice: report.advice,
        },
        results: selectFindings(printed).map((finding) => {
          const ruleIndex = printed.indexOf(finding);
          return toResult(finding, ruleIndex, placeOf(locate(finding), report.origin));
        }),
      },
    ],
  };
  return toPrintedJson(log);
}

/** `rule` is the check's rule in one sentence. */
function toRule(result: CheckResult, rule = result.title) {
  return {
    id: result.id,
    name: result.title,
    shortDescription: { text: escapeLinks(rule) },
    help: { text: escapeLinks(result.fix) },
    properties: { category: result.category, severity: result.severity },
  };
}

function toResult(finding: CheckResult, ruleIndex: number, physicalLocation: object) {
  return {
    ruleId: finding.id,
    ruleIndex,
    level: finding.status === 'fail' ? 'error' : 'warning',
    message: { text: escapeLinks(findingText(finding)) },
    locations: [{ physicalLocation }],
    partialFingerprints: { 'finding/v1': `${finding.id}/${finding.outcome}` },
    properties: { outcome: finding.outcome, basis: finding.basis },
  };
}

function placeOf(place: SourceLocation | null, origin: string): object {
  if (place === null) return { artifactLocation: { uri: `${origin}/` } };
  return { artifactLocation: { uri: place.file }, region: { startLine: place.line } };
}
