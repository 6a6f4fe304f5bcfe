/** Characters that Markdown interprets, or that turn an address into a link. */
const MARKUP = /[\\`*_{}[\]()#+!|<>~&@]|:(?=\/\/)|(?<=www)\./gi;

/**
 * For text of origins. GitHub links no @name and no #number inside code. Entities escape markup, links
 * and cell borders; a backslash cannot escape a pipe that follows another backslash.
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
