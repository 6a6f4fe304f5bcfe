export const COMMAND_NAMES = [
  'scan',
  'explain',
  'diff',
  'pay-test',
  'preflight',
  'mcp',
  'capture',
  'openapi',
  'verify',
] as const;
export type CommandName = (typeof COMMAND_NAMES)[number];

/** A clone runs the TypeScript sources by npm scripts; the package runs by its name. */
const IS_CLONE = import.meta.url.endsWith('.ts');
const SCRIPTS: readonly CommandName[] = ['scan', 'explain', 'diff', 'pay-test', 'verify'];

/** "npm run explain --" or "x402-scan explain". */
export function showCall(command: CommandName): string {
  if (!IS_CLONE) return `x402-scan ${command}`;
  return SCRIPTS.includes(command) ? `npm run ${command} --` : `npm run scan -- ${command}`;
}
