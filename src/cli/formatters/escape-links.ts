/** SARIF 2.1.0, section 3.11.6: "[text](address)" in a message is a link, unless backslashes say otherwise. */
export function escapeLinks(text: string): string {
  return text.replaceAll(/[\\[\]]/g, '\\$&');
}
