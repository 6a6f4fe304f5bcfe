/** Formats that build servers show beside a change: annotations of GitHub, Code Quality of GitLab. */
import { createHash } from 'node:crypto';
import type { SourceLocation } from '../sources.ts';
import { breakCommands, escapeLinks, toPrintedJson } from './escapes.ts';
import { type Findings, isProblem } from './findings.ts';

/**
 * One workflow command for each finding, at its file and line if `--source` names them, and the headline.
 * https://docs.github.com/actions/reference/workflows-and-actions/workflow-commands
 */
export function formatGithub({ title, target, headline, items }: Findings): string {
  const lines = items.filter(isProblem).map(({ status, label, text, place }) => {
    const at = place === null ? '' : `file=${property(place.file)},line=${place.line},`;
    return annotation(status === 'fail' ? 'error' : 'warning', at, label, text);
  });
  return `${[...lines, annotation('notice', '', title, `${target}: ${headline}`)].join('\n')}\n`;
}

function annotation(level: string, at: string, title: string, text: string): string {
  return `::${level} ${at}title=${property(title)}::${data(text)}`;
}

/** Evidence quotes origins: no line break of theirs may begin a command. */
function data(text: string): string {
  return breakCommands(text).replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

function property(text: string): string {
  return data(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
}

/** GitLab requires a path and a line; without a source they are those of the pipeline's file. */
const PIPELINE: SourceLocation = { file: '.gitlab-ci.yml', line: 1 };

/** Writes a Code Quality report of GitLab. https://docs.gitlab.com/ci/testing/code_quality/ */
export function formatCodeQuality({ target, items }: Findings): string {
  return toPrintedJson(
    items.filter(isProblem).map(({ id, label, text, identity, severity, place }) => {
      const { file, line } = place ?? PIPELINE;
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
