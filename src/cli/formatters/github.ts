/**
 * Workflow commands of GitHub Actions: one annotation for each finding, at its file and line where
 * `--source` gives one. https://docs.github.com/actions/reference/workflows-and-actions/workflow-commands
 */
import { answerLine } from '../../payable/answer-line.ts';
import { findingText, selectFindings } from './findings.ts';
import type { Printable } from './printable.ts';
import { breakCommands } from './workflow-commands.ts';

export function formatGithub({ report, printed, locate }: Printable): string {
  const { origin, grade, score } = report;
  const lines = selectFindings(printed).map((finding) => {
    const place = locate(finding);
    const at = place === null ? '' : `file=${property(place.file)},line=${place.line},`;
    const title = property(`${finding.id} ${finding.title}`);
    const level = finding.status === 'fail' ? 'error' : 'warning';
    return `::${level} ${at}title=${title}::${data(findingText(finding))}`;
  });
  const summary = `::notice title=x402 conformance::${data(`${origin}: grade ${grade}, ${score}/100. ${answerLine(report)}`)}`;
  return `${[...lines, summary].join('\n')}\n`;
}

/** Evidence quotes origins: no line break of theirs may begin a command. */
function data(text: string): string {
  return breakCommands(text).replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

function property(text: string): string {
  return data(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
}
