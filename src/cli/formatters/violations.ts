import { createHash } from 'node:crypto';
import type { SourceLocation } from '../sources.ts';
import { escapeLinks } from './escape-links.ts';
import { toPrintedJson } from './workflow-commands.ts';

export type Violation = {
  readonly rule: string;
  readonly text: string;
  /** Leaves the evidence out, so that the fingerprint stays while the finding does. */
  readonly identity: string;
  readonly severity: 'info' | 'minor' | 'major' | 'critical';
  readonly place?: SourceLocation | null;
};

/** GitLab requires a path and a line; without a source they are those of the pipeline's file. */
const PIPELINE: SourceLocation = { file: '.gitlab-ci.yml', line: 1 };

/** Writes a Code Quality report of GitLab. https://docs.gitlab.com/ci/testing/code_quality/ */
export function writeViolations(violations: readonly Violation[]): string {
  return toPrintedJson(
    violations.map(({ rule, text, identity, severity, place }) => {
      const { file, line } = place ?? PIPELINE;
      return {
        description: escapeLinks(text),
        check_name: rule,
        fingerprint: createHash('sha256').update(identity).digest('hex'),
        severity,
        location: { path: file, lines: { begin: line } },
      };
    }),
  );
}
