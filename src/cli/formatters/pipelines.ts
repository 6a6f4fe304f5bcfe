/** Formats that build servers show beside a code change: annotations of GitHub, Code Quality of GitLab. */
import { createHash } from 'node:crypto';
import type { SourceLocation } from '../sources.ts';
import { breakCommands, escapeLinks, toPrintedJson } from './escapes.ts';
import { type Findings, isProblem } from './findings.ts';

/**
 * Writes one workflow command for each problem, and one for the headline. A problem has a file and line if
 * `--source` names them.
 * https://docs.github.com/actions/reference/workflows-and-actions/workflow-commands
 */
export function formatGithub({ title, target, headline, items }: Findings): string {
  const lines = items.filter(isProblem).map(({ status, label, text, location }) => {
    const position =
      location === null ? '' : `file=${escapeProperty(location.file)},line=${location.line},`;
    return formatAnnotation(status === 'fail' ? 'error' : 'warning', position, label, text);
  });
  return `${[...lines, formatAnnotation('notice', '', title, `${target}: ${headline}`)].join('\n')}\n`;
}

function formatAnnotation(level: string, position: string, title: string, text: string): string {
  return `::${level} ${position}title=${escapeProperty(title)}::${escapeData(text)}`;
}

/** The text may quote an origin, and a line break in it must not begin a command. */
function escapeData(text: string): string {
  return breakCommands(text).replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

function escapeProperty(text: string): string {
  return escapeData(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
}

/** GitLab requires a path and a line. This location stands for a finding without a source. */
const PIPELINE_LOCATION: SourceLocation = { file: '.gitlab-ci.yml', line: 1 };

/** Writes a Code Quality report of GitLab. https://docs.gitlab.com/ci/testing/code_quality/ */
export function formatCodeQuality({ target, items }: Findings): string {
  return toPrintedJson(
    items.filter(isProblem).map(({ id, label, text, identity, severity, location }) => {
      const { file, line } = location ?? PIPELINE_LOCATION;
      return {
        description: escapeLinks(`${label}: ${text}`),
        check_name: `x402/${id}`,
        fingerprint: createHash('sha256').update(`${target} ${id} ${identity}`).digest('hex'),
        severity,
        location: { path: file, lines: { begin: line } },
      };
    }),
  );
}
