/** Output formats by name. Each turns a finished scan into the text of one file. */
import type { CheckResult } from '../../scanner/model/report.ts';
import { toAnswerLine } from '../../scanner/report/answer-line.ts';
import type { SourceLocation } from '../sources.ts';
import type { FormatName } from '../usage.ts';
import { toPrintedJson } from './escapes.ts';
import {
  type Findings,
  isProblem,
  isUndetermined,
  type PrintableScan,
  toFindingText,
} from './findings.ts';
import { formatMarkdown } from './markdown.ts';
import { formatCodeQuality, formatGithub, formatJunit, formatSarif } from './pipelines.ts';
import { formatText } from './text.ts';

export const FORMATS = {
  text: formatText,
  json: formatJson,
  sarif: (scan) => formatSarif(toFindings(scan)),
  junit: (scan) => formatJunit(toFindings(scan)),
  markdown: formatMarkdown,
  github: (scan) => formatGithub(toFindings(scan)),
  codequality: (scan) => formatCodeQuality(toFindings(scan)),
} as const satisfies Record<FormatName, (scan: PrintableScan) => string>;

/** Undetermined results are skipped cases in JUnit. Other formats leave them out. */
function toFindings(scan: PrintableScan): Findings {
  const { report, printed, rules, repository } = scan;
  const { origin, grade, score, scannedAt, checksVersion, advice, named } = report;
  const { payableBy, payability, clients } = report;
  const answer = toAnswerLine(report);
  const verdict = { origin, grade, score, scannedAt };
  const facts = { answer, payableBy, payability, clients, advice, named };
  return {
    tool: { name: 'x402-conformance-scanner', version: checksVersion },
    title: 'x402 conformance',
    target: origin,
    headline: `grade ${grade}, ${score}/100. ${answer}${named ? ` ${named.words}` : ''}`,
    timestamp: scannedAt,
    sarifProperties: { ...verdict, ...facts },
    junitProperties: [
      ['grade', grade],
      ['score', String(score)],
      ['payableBy', payableBy ?? 'unknown'],
      ['answer', answer],
      ...(named ? [['named', named.words] as const] : []),
      ...advice.map((entry) => [`advice/${entry.id}`, toFindingText(entry)] as const),
      ['checksVersion', checksVersion],
    ],
    fingerprintName: 'finding/v1',
    named,
    pipelineFile: repository.pipelineFile,
    rules: printed.map(({ id, title, fix, category, severity }) => ({
      id,
      name: title,
      description: rules.get(id) ?? title,
      help: fix,
      properties: { category, severity },
    })),
    items: printed.map((result) => {
      const { id, title, category, outcome, severity, basis } = result;
      const name = `${id} ${title}`;
      const status = isUndetermined(result) ? 'skipped' : result.status;
      return {
        id,
        name,
        label: name,
        group: category,
        kind: outcome,
        identity: outcome,
        status,
        severity: status === 'fail' ? severity : 'info',
        text: toFindingText(result),
        location: isProblem({ status }) ? locateInRepository(result, scan) : null,
        properties: { outcome, basis },
      };
    }),
  };
}

/** Returns null for a finding about no file, or about a file outside the repository. */
function locateInRepository(
  result: CheckResult,
  { locate, repository }: PrintableScan,
): SourceLocation | null {
  const location = locate(result);
  const file = location === null ? null : repository.toPath(location.file);
  return location === null || file === null ? null : { file, line: location.line };
}

/** Has the same shape as the report of the service. */
function formatJson({ report, printed, timing }: PrintableScan): string {
  const { origin, grade, score, subScores, checksVersion, scannedAt, exhausted } = report;
  const { payableBy, payability, clients, otherWays, advice, routes, indexed, named } = report;
  const verdict = { origin, grade, score, subScores, cache: 'miss', checksVersion, scannedAt };
  const facts = { exhausted, payableBy, payability, clients, otherWays, advice, routes, indexed };
  const rounded = Object.entries(timing ?? {}).map(([name, value]) => [name, Math.round(value)]);
  return toPrintedJson({
    ...verdict,
    ...facts,
    named,
    results: printed,
    timing: timing === null ? undefined : Object.fromEntries(rounded),
  });
}
