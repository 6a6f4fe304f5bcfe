import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { ToolUsageError } from './tool-usage-error.ts';
import { type CatalogFiles, publishCatalog } from './write-catalog.ts';

const LINT = fileURLToPath(new URL('../lint.ts', import.meta.url));

/** Runs all of `npm run lint`. Returns false if lint finds something. */
export function lintBeforePublishing(version: string): boolean {
  const args = [LINT, '--publishing', version];
  return spawnSync(process.execPath, args, { stdio: 'inherit' }).status === 0;
}

/**
 * Pins the catalog and its check files. Published files never change again, so lint must find nothing before.
 * Throws ToolUsageError.
 */
export async function publishLinted(
  version: string,
  files: CatalogFiles,
  lint: (version: string) => boolean = lintBeforePublishing,
): Promise<readonly string[]> {
  if (!lint(version)) {
    throw new ToolUsageError(`${version} is not published: correct what lint found, then publish.`);
  }
  return publishCatalog(version, files);
}
