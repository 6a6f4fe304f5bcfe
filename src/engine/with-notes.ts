import { cleanText } from '../parse/text/text.ts';
import { type Finding, isFound } from './findings.ts';

/** A fact beside a finding, and what it is called: the name of an outcome, or a word of the check. */
export type Note = readonly [name: string, text: string, ...rest: readonly unknown[]];

/** Below the limit of evidence, because the engine cuts longer texts. */
const MAX_NOTED_CHARS = 480;
const MAX_POINTERS = 12;

/**
 * Adds the notes that the evidence does not have yet: "…; also: /accepts/1/amount: 5 (bad-field)". If they are too long,
 * only their pointers.
 */
export function withNotes<Name extends string>(
  finding: Finding<Name>,
  notes: readonly Note[],
): Finding<Name> {
  if (!isFound(finding)) return finding;
  const [name, evidence, fix] = finding;
  const byText = new Map(notes.map((note) => [note[1], note]));
  const unnamed = [...byText.values()].filter(([, text]) => !evidence.includes(text));
  if (unnamed.length === 0) return [name, cleanText(evidence, MAX_NOTED_CHARS), fix];
  const full = unnamed.map(([kind, text]) => `${text} (${kind})`).join('; ');
  const text = `${evidence}; also: ${full}`;
  if (text.length <= MAX_NOTED_CHARS) return [name, text, fix];
  const pointers = [...new Set(unnamed.map(([, note]) => note.split(/:? /, 1)[0]))];
  const rest = pointers.length - MAX_POINTERS;
  const short = pointers.slice(0, MAX_POINTERS).join(', ') + (rest > 0 ? ` and ${rest} more` : '');
  const main = cleanText(evidence, MAX_NOTED_CHARS - short.length);
  return [name, `${main}; also: ${short}`, fix];
}
