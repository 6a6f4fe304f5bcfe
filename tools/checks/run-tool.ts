import { CatalogError } from '../../src/engine/catalog/catalog.ts';
import { CheckModuleError } from '../../src/engine/catalog/discover-checks.ts';
import { ToolUsageError } from './tool-usage-error.ts';

const EXPECTED = [ToolUsageError, CatalogError, CheckModuleError];

/** Prints the tool's lines and exits with 0, or prints a refusal in one line and exits with 2. A defect keeps its stack. */
export async function runTool(tool: () => Promise<readonly string[]>): Promise<void> {
  try {
    process.stdout.write(`${(await tool()).join('\n')}\n`);
  } catch (error) {
    if (!(error instanceof Error && EXPECTED.some((kind) => error instanceof kind))) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 2;
  }
}
