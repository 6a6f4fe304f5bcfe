/**
 * Runners of pipelines read a log for commands: GitHub obeys "::name::" at the start of a line, after
 * blanks too, and "##[name]" anywhere in one; Azure obeys "##vso[", TeamCity "##teamcity[". A report
 * quotes origins, so its text holds none of these.
 */
const MARK = /##(?=\w*\[)/g;
/** .NET trims U+0085 as a blank, which `\s` is not. */
const LINE_COMMAND = /^((?:[^\S\n]|\u0085)*):(?=:)/gm;

/** For text that people read: a space stands inside what would be a command. */
export function breakCommands(text: string): string {
  return text.replaceAll(MARK, '# #').replaceAll(LINE_COMMAND, '$1: ');
}

/**
 * For JSON: a reader gets the same value back. No line of JSON begins with a colon, and "#" occurs
 * in its strings alone.
 */
function escapeJsonCommands(json: string): string {
  return json.replaceAll(MARK, '\\u0023#');
}

/** For XML, where line breaks of values are escaped: a reader gets the same value back. */
export function escapeXmlCommands(xml: string): string {
  return xml.replaceAll(MARK, '&#35;#');
}

/** The value as JSON for people and machines, which may stand in a log. */
export function toPrintedJson(value: unknown, indent = 2): string {
  return `${escapeJsonCommands(JSON.stringify(value, null, indent))}\n`;
}
