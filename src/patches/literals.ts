/**
 * Texts as literals of the languages that patches are written in. Values are an origin's own words:
 * they are cleaned before (`patch-values.ts`), and here nothing in them can end its literal.
 */
import type { JsonDocument } from './patch.ts';

/** In single quotes where that takes no escapes. */
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

/** `indent` goes before all lines but the first. */
export function json(document: JsonDocument, indent = ''): string {
  return JSON.stringify(document, null, 2).replaceAll('\n', `\n${indent}`);
}

/** As `json`, with Python's names of true and false. */
export function pythonJson(document: JsonDocument, indent = ''): string {
  return json(document, indent).replace(
    /("(?:[^"\\]|\\.)*")|\b(?:true|false)\b/g,
    (word, text: string | undefined) => text ?? (word === 'true' ? 'True' : 'False'),
  );
}

/** Several lines, in backticks. */
export function jsTemplate(text: string): string {
  return `\`${text.replace(/[`\\]|\$(?=\{)/g, '\\$&')}\``;
}

/** Several lines, in three quotation marks. */
export function pythonText(text: string): string {
  return `"""${text.replace(/["\\]/g, '\\$&')}"""`;
}

/** Several lines, in backticks, which nothing escapes there. */
export function goText(text: string): string {
  return `\`${text.replaceAll('`', '` + "`" + `')}\``;
}
