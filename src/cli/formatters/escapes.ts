/**
 * CI runners execute commands that they find in a log. GitHub executes "::name::" at the start of a line, also
 * after blanks, and "##[name]" anywhere; Azure executes "##vso[", TeamCity "##teamcity[". A report quotes origins,
 * and an origin must not run commands, so these functions break them up.
 */
const COMMAND_MARK = /##(?=\w*\[)/g;
/** GitHub's runner is .NET, which trims U+0085 as a blank; `\s` does not match it. */
const LINE_COMMAND = /^((?:[^\S\n]|\u0085)*):(?=:)/gm;

/** Makes text safe for a log: inserts a space into each command. */
export function defuseCommands(text: string): string {
  return text.replaceAll(COMMAND_MARK, '# #').replaceAll(LINE_COMMAND, '$1: ');
}

/** Makes XML safe for a log; a parser gets the same value. Line breaks in values are already escaped. */
export function escapeXmlCommands(xml: string): string {
  return xml.replaceAll(COMMAND_MARK, '&#35;#');
}

/**
 * Makes JSON that is safe to print in a CI log. Only strings are escaped, so a parser gets the same value: "#" occurs
 * only in strings, and no line of JSON begins with a colon. Leaves out members that are undefined.
 */
export function toPrintedJson(value: unknown, indent = 2): string {
  return `${JSON.stringify(value, null, indent).replaceAll(COMMAND_MARK, '\\u0023#')}\n`;
}

/** SARIF 2.1.0, section 3.11.6: "[text](address)" in a message is a link unless its brackets are escaped. */
export function escapeLinks(text: string): string {
  return text.replaceAll(/[\\[\]]/g, '\\$&');
}

/** Characters that Markdown interprets, or that turn an address into a link. */
const MARKUP = /[\\`*_{}[\]()#+!|<>~&@]|:(?=\/\/)|(?<=www)\./gi;

/**
 * Makes text of origins safe for Markdown. Inside code, GitHub links no @name and no #number. Entities escape
 * markup, links and cell borders, because a backslash cannot escape a pipe that follows another backslash.
 */
export function toMarkdownCode(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  return `<code>${line.replace(MARKUP, (character) => `&#${character.codePointAt(0)};`)}</code>`;
}

/** Escapes our own text for Markdown. */
export function escapeMarkdown(text: string): string {
  return text
    .replace(/[\\`*_{}[\]()#+!|<>~]/g, (character) => `\\${character}`)
    .replaceAll(/\s+/g, ' ');
}
