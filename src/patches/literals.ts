/**
 * Writes values as literals of the patches' languages. Values come from an origin: `patch-values.ts` has
 * cleaned them, and these functions escape everything that could end a literal.
 */
import type { JsonDocument } from './patch.ts';

/** Uses single quotes where no escape is needed. */
export function js(text: string): string {
  return /['\\\n]/.test(text) ? JSON.stringify(text) : `'${text}'`;
}

/** The escapes of JSON mean the same in Python. */
export function python(text: string): string {
  return JSON.stringify(text);
}

/** The escapes of JSON mean the same in Go. */
export function go(text: string): string {
  return JSON.stringify(text);
}

/** `indent` is put before all lines but the first. */
export function json(document: JsonDocument, indent = ''): string {
  return JSON.stringify(document, null, 2).replaceAll('\n', `\n${indent}`);
}

/** `json` with Python's True and False. */
export function pythonJson(document: JsonDocument, indent = ''): string {
  return json(document, indent).replace(
    /("(?:[^"\\]|\\.)*")|\b(?:true|false)\b/g,
    (word, text: string | undefined) => text ?? (word === 'true' ? 'True' : 'False'),
  );
}

/** A text of several lines in backticks. */
export function jsTemplate(text: string): string {
  return `\`${text.replace(/[`\\]|\$(?=\{)/g, '\\$&')}\``;
}

/** A text of several lines in triple quotes. */
export function pythonText(text: string): string {
  return `"""${text.replace(/["\\]/g, '\\$&')}"""`;
}

/** A text of several lines in backticks, in which Go knows no escapes. */
export function goText(text: string): string {
  return `\`${text.replaceAll('`', '` + "`" + `')}\``;
}
