/**
 * CI runners execute commands in a log: GitHub "::name::" at the start of a line, also after blanks, and
 * "##[name]" anywhere; Azure "##vso[", TeamCity "##teamcity[". A report quotes origins, so these are broken up.
 */
const MARK = /##(?=\w*\[)/g;
/** GitHub's runner is .NET, which trims U+0085 as a blank; `\s` does not match it. */
const LINE_COMMAND = /^((?:[^\S\n]|\u0085)*):(?=:)/gm;

/** For text: inserts a space into each command. */
export function breakCommands(text: string): string {
  return text.replaceAll(MARK, '# #').replaceAll(LINE_COMMAND, '$1: ');
}

/**
 * For JSON: escapes, so that a parser gets the same value. No line of JSON begins with a colon, and "#"
 * occurs only in strings.
 */
function escapeJsonCommands(json: string): string {
  return json.replaceAll(MARK, '\\u0023#');
}

/** For XML, where line breaks in values are escaped already; a parser gets the same value. */
export function escapeXmlCommands(xml: string): string {
  return xml.replaceAll(MARK, '&#35;#');
}

/** JSON that is safe to print in a CI log. */
export function toPrintedJson(value: unknown, indent = 2): string {
  return `${escapeJsonCommands(JSON.stringify(value, null, indent))}\n`;
}

/** For SARIF 2.1.0, section 3.11.6: "[text](address)" in a message is a link, unless backslashes say otherwise. */
export function escapeLinks(text: string): string {
  return text.replaceAll(/[\\[\]]/g, '\\$&');
}

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
