/**
 * Workflow commands of GitHub Actions.
 * https://docs.github.com/actions/reference/workflows-and-actions/workflow-commands
 */
import type { SourceLocation } from '../sources.ts';
import { breakCommands } from './workflow-commands.ts';

export function writeAnnotation(
  level: 'error' | 'warning' | 'notice',
  title: string,
  text: string,
  place: SourceLocation | null = null,
): string {
  const at = place === null ? '' : `file=${property(place.file)},line=${place.line},`;
  return `::${level} ${at}title=${property(title)}::${data(text)}`;
}

/** Evidence quotes origins: no line break of theirs may begin a command. */
function data(text: string): string {
  return breakCommands(text).replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

function property(text: string): string {
  return data(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
}
