import { findingText, selectFindings } from './findings.ts';
import type { Printable } from './printable.ts';
import { writeViolations } from './violations.ts';

export function formatCodeQuality({ report, printed, locate }: Printable): string {
  return writeViolations(
    selectFindings(printed).map((finding) => ({
      rule: `x402/${finding.id}`,
      text: `${finding.id} ${finding.title}: ${findingText(finding)}`,
      identity: `${report.origin} ${finding.id} ${finding.outcome}`,
      severity: finding.status === 'fail' ? finding.severity : 'info',
      place: locate(finding),
    })),
  );
}
