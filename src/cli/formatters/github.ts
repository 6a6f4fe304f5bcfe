import { answerLine } from '../../payable/answer-line.ts';
import { writeAnnotation } from './annotations.ts';
import { findingText, selectFindings } from './findings.ts';
import type { Printable } from './printable.ts';

/** One annotation for each finding, at its file and line where `--source` gives one. */
export function formatGithub({ report, printed, locate }: Printable): string {
  const { origin, grade, score } = report;
  const lines = selectFindings(printed).map((finding) => {
    const level = finding.status === 'fail' ? 'error' : 'warning';
    const title = `${finding.id} ${finding.title}`;
    return writeAnnotation(level, title, findingText(finding), locate(finding));
  });
  const text = `${origin}: grade ${grade}, ${score}/100. ${answerLine(report)}`;
  return `${[...lines, writeAnnotation('notice', 'x402 conformance', text)].join('\n')}\n`;
}
