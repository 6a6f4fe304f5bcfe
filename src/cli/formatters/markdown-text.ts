/** Characters that Markdown interprets, or that turn an address into a link. */
const MARKUP = /[\\`*_{}[\]()#+!|<>~&@]|:(?=\/\/)|(?<=www)\./gi;

/**
 * For text of origins. In code GitHub links no @name and no #number. Entities escape markup, links and
 * cell borders; a backslash would fail for a pipe behind a backslash.
 */
export function asCode(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  return `<code>${line.replace(MARKUP, (character) => `&#${character.codePointAt(0)};`)}</code>`;
}

export function escapeText(text: string): string {
  return text
    .replace(/[\\`*_{}[\]()#+!|<>~]/g, (character) => `\\${character}`)
    .replaceAll(/\s+/g, ' ');
}
