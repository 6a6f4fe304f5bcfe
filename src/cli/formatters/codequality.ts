/**
 * Code Quality of GitLab: one violation for each finding. Path and line are required; without a source
 * they are those of the pipeline's file. https://docs.gitlab.com/ci/testing/code_quality/
 */
import { createHash } from 'node:crypto';
import type { Severity } from '../../model/report.ts';
import { escapeLinks } from './escape-links.ts';
import { findingText, selectFindings } from './findings.ts';
import type { Printable } from './printable.ts';
import { toPrintedJson } from './workflow-commands.ts';

const PIPELINE = { file: '.gitlab-ci.yml', line: 1 };
const SEVERITIES: Readonly<Record<Severity, string>> = {
  critical: 'critical',
  major: 'major',
  minor: 'minor',
};

export function formatCodeQuality({ report, printed, locate }: Printable): string {
  const violations = selectFindings(printed).map((finding) => {
    const { file, line } = locate(finding) ?? PIPELINE;
    const what = `${report.origin} ${finding.id} ${finding.outcome}`;
    return {
      description: escapeLinks(`${finding.id} ${finding.title}: ${findingText(finding)}`),
      check_name: `x402/${finding.id}`,
      // The fingerprint leaves the evidence out, so that it stays while the finding does.
      fingerprint: createHash('sha256').update(what).digest('hex'),
      severity: finding.status === 'fail' ? SEVERITIES[finding.severity] : 'info',
      location: { path: file, lines: { begin: line } },
    };
  });
  return toPrintedJson(violations);
}
