/** Copies the newest version of a check to the next version, because published files never change. */
import { readFile, writeFile } from 'node:fs/promises';
import type { DiscoveredCheck } from '../../src/scanner/engine/catalog/discover-checks.ts';
import { ToolUsageError } from './tool-usage-error.ts';

export type CopiedVersion = { readonly from: DiscoveredCheck; readonly version: number };

/** Throws ToolUsageError for an unknown check, and if its newest version is not published. */
export async function copyCheckVersion(
  id: string,
  checks: readonly DiscoveredCheck[],
  /** Digests of the implementations that published catalogs run, by name ("P6@2"). */
  published: ReadonlyMap<string, string>,
): Promise<CopiedVersion> {
  const from = checks.findLast((check) => check.id === id);
  if (!from) {
    const ids = [...new Set(checks.map((check) => check.id))].join(', ');
    throw new ToolUsageError(`There is no check ${id}. There are: ${ids}.`);
  }
  if (!published.has(from.impl)) {
    throw new ToolUsageError(
      `${from.impl} is not published: change it in place, then npm run catalog:new -- --refresh`,
    );
  }
  const version = from.version + 1;
  const versionLine = new RegExp(`^(\\s*version: )${from.version}(,)$`, 'gm');
  const text = await readFile(new URL(from.url), 'utf8');
  if (text.match(versionLine)?.length !== 1) {
    throw new ToolUsageError(
      `${from.url} must state "version: ${from.version}," once, on a line of its own.`,
    );
  }
  // The flag refuses to overwrite a file that discovery did not load.
  const target = new URL(`v${version}.ts`, from.folder);
  await writeFile(target, text.replace(versionLine, `$1${version}$2`), { flag: 'wx' });
  await addHistory(new URL('README.md', from.folder), version);
  return { from, version };
}

/** Adds a line for the new version at the end of the README, because History is its last section. */
async function addHistory(readme: URL, version: number): Promise<void> {
  const text = (await readFile(readme, 'utf8')).trimEnd();
  if (!text.includes('\n## History\n')) {
    throw new ToolUsageError(`${readme.pathname} has no section "## History": add it.`);
  }
  await writeFile(readme, `${text}\n- v${version}: what moves from v${version - 1}, and why.\n`);
}
