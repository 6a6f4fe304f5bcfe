/** Rules that no ready-made linter has. */
import { catalogs } from './catalogs.ts';
import { checkFolders } from './check-folders.ts';
import { checkOutcomes } from './check-outcomes.ts';
import type { Finding, HouseRule } from './finding.ts';
import { packageVersion } from './package-version.ts';
import { privateDoors } from './private-doors.ts';
import { isUnpinned, publishedUnchanged } from './published-unchanged.ts';
import { openTree } from './source-tree.ts';
import {
  catalogChangelog,
  folderReadmes,
  lockfile,
  roomNames,
  suiteProjects,
  typeNames,
  unfinished,
} from './tidy.ts';

const RULES: readonly HouseRule[] = [
  checkFolders,
  checkOutcomes,
  catalogs,
  publishedUnchanged,
  privateDoors,
  roomNames,
  suiteProjects,
  typeNames,
  unfinished,
  folderReadmes,
  catalogChangelog,
  lockfile,
  packageVersion,
];

/**
 * Lists the findings in the checkout at `root`, by file and line. The catalog `publishing` need not be pinned yet.
 */
export async function findHouseBreaches(
  root: string,
  publishing: string | null = null,
): Promise<Finding[]> {
  const tree = openTree(root);
  const findings = await Promise.all(RULES.map(async (rule) => rule(tree)));
  const remaining = findings
    .flat()
    .filter((finding) => publishing === null || !isUnpinned(finding, publishing));
  return remaining.sort((a, b) => a.file.localeCompare(b.file) || a.line - b.line);
}
