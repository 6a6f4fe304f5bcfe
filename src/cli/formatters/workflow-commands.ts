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
 * occurs in strings alone.
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
