import { CatalogError } from '../../src/scanner/engine/catalog/catalog.ts';
import { CheckModuleError } from '../../src/scanner/engine/catalog/discover-checks.ts';
import { ToolUsageError } from './tool-usage-error.ts';

const EXPECTED_ERRORS = [ToolUsageError, CatalogError, CheckModuleError];

/** Prints the tool's lines and exits with 0, or prints an expected error and exits with 2. Rethrows others. */
export async function runTool(tool: () => Promise<readonly string[]>): Promise<void> {
  try {
    process.stdout.write(`${(await tool()).join('\n')}\n`);
  } catch (error) {
    if (
      !(error instanceof Error && EXPECTED_ERRORS.some((errorClass) => error instanceof errorClass))
    )
      throw error;
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 2;
  }
}
