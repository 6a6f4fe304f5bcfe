/** How a command is called here: by a script of npm in a clone, by the name of the package else. */
const IS_CLONE = import.meta.url.endsWith('.ts');

/** "npm run scan --" or "x402-scan scan". */
export function callOf(command: 'scan' | 'diff' | 'explain'): string {
  return IS_CLONE ? `npm run ${command} --` : `x402-scan ${command}`;
}
