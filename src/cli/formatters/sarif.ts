import { answerLine } from '../../payable/answer-line.ts';
import type { SourceLocation } from '../sources.ts';
import { findingText, selectFindings } from './findings.ts';
import type { Printable } from './printable.ts';
import { toUrlLocation, writeSarif } from './sarif-log.ts';

/** One rule for each check, one result for each warning or failure. */
export function formatSarif({ report, printed, rules, locate }: Printable): string {
  return writeSarif({
    tool: { name: 'x402-conformance-scanner', version: report.checksVersion },
    rules: printed.map(({ id, title, fix, category, severity }) => ({
      id,
      name: title,
      description: rules.get(id) ?? title,
      help: fix,
      properties: { category, severity },
    })),
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
    results: selectFindings(printed).map((finding) => ({
      ruleId: finding.id,
      isFailure: finding.status === 'fail',
      text: findingText(finding),
      physicalLocation: toLocation(locate(finding), report.origin),
      fingerprints: { 'finding/v1': `${finding.id}/${finding.outcome}` },
      properties: { outcome: finding.outcome, basis: finding.basis },
    })),
  });
}

/** A file and line where `--source` gives one, else the URL of the origin. */
function toLocation(place: SourceLocation | null, origin: string): object {
  if (place === null) return toUrlLocation(origin);
  return { artifactLocation: { uri: place.file }, region: { startLine: place.line } };
}
