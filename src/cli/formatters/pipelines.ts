/** Formats that build servers show beside a code change: annotations of GitHub, Code Quality of GitLab. */
import { createHash } from 'node:crypto';
import { breakCommands, escapeLinks, toPrintedJson } from './escapes.ts';
import {
  type Findings,
  findFaultyNamed,
  isProblem,
  NAMED_RULE,
  type PrintedFinding,
  toFallbackLocation,
} from './findings.ts';

/**
 * Writes one workflow command for each problem, and one for the headline. A problem has a file and line if
 * `--source` names them, and else those of the pipeline.
 * https://docs.github.com/actions/reference/workflows-and-actions/workflow-commands
 */
export function formatGithub(findings: Findings): string {
  const { title, target, headline, items, pipelineFile } = findings;
  const fallback = pipelineFile === null ? null : toFallbackLocation(findings);
  const lines = items.filter(isProblem).map(({ status, label, text, location }) => {
    const place = location ?? fallback;
    const position = place === null ? '' : `file=${escapeProperty(place.file)},line=${place.line},`;
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

/** Writes a Code Quality report of GitLab. https://docs.gitlab.com/ci/testing/code_quality/ */
export function formatCodeQuality(findings: Findings): string {
  const { target, items } = findings;
  const entries = [...namedEntries(findings), ...items.filter(isProblem).map(toEntry)];
  return toPrintedJson(
    entries.map(({ id, identity, description, severity, location }) => {
      const { file, line } = location ?? toFallbackLocation(findings);
      return {
        description: escapeLinks(description),
        check_name: `x402/${id}`,
        fingerprint: createHash('sha256').update(`${target} ${id} ${identity}`).digest('hex'),
        severity,
        location: { path: file, lines: { begin: line } },
      };
    }),
  );
}

type QualityEntry = Pick<PrintedFinding, 'id' | 'identity' | 'severity' | 'location'> & {
  readonly description: string;
};

function toEntry({ label, text, ...finding }: PrintedFinding): QualityEntry {
  return { ...finding, description: `${label}: ${text}` };
}

function namedEntries(findings: Findings): readonly QualityEntry[] {
  const named = findFaultyNamed(findings);
  if (named === null) return [];
  const identity = `${named.method} ${named.path}`;
  const description = named.words;
  return [{ id: NAMED_RULE, identity, severity: 'info', location: null, description }];
}
