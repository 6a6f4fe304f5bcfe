/** Output formats by name; each writes a finished scan as the text of one file. */
import { formatCodeQuality } from './codequality.ts';
import type { FormatName } from './format-names.ts';
import { formatGithub } from './github.ts';
import { formatJson } from './json.ts';
import { formatJunit } from './junit.ts';
import { formatMarkdown } from './markdown.ts';
import type { Printable } from './printable.ts';
import { formatSarif } from './sarif.ts';
import { formatText } from './text.ts';

export const FORMATS = {
  text: formatText,
  json: formatJson,
  sarif: formatSarif,
  junit: formatJunit,
  markdown: formatMarkdown,
  github: formatGithub,
  codequality: formatCodeQuality,
} as const satisfies Record<FormatName, (scan: Printable) => string>;
