/** How every maintainer's command ends: its lines on standard output, or one line that says why not. */
import { CatalogError, CheckModuleError } from '../../src/engine/errors.ts';
import { ToolUsageError } from './tool-usage-error.ts';

const EXPECTED = [ToolUsageError, CatalogError, CheckModuleError];

/** Sets the exit code: 0, or 2 for a refusal. A defect keeps its stack. */
export async function runTool(tool: () => Promise<readonly string[]>): Promise<void> {
  try {
    process.stdout.write(`${(await tool()).join('\n')}\n`);
  } catch (error) {
    if (!(error instanceof Error && EXPECTED.some((kind) => error instanceof kind))) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 2;
  }
}
