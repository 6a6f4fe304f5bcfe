import { writeFile } from 'node:fs/promises';
import type { Catalog } from '../../src/scanner/engine/catalog/catalog.ts';
import {
  CHECKS_FOLDER,
  type DiscoveredCheck,
} from '../../src/scanner/engine/catalog/discover-checks.ts';

const README_HEAD = `Lives here: one folder for each check, with its versions (\`v1.ts\`, …), its cases and its README.
Nothing imports a check by name: the catalog says which versions run. A check uses only \`#check\` (package.json, \`imports\`) and its kit.
Start at S7-llms-txt/v1.ts; CONTRIBUTING.md tells how to add or revise a check.

# The checks

\`npm run checks:readme\` writes this page from catalog CATALOG and the checks. The catalog says how much a check
weighs. The check has its rule, and three sentences about the rule (\`says\`). The digest of a check covers these
sentences, so a report under an old catalog keeps its words.`;

/** Writes checks/README.md for the newest catalog; every command that writes a catalog calls it. */
export async function writeChecksReadme(
  catalog: Catalog,
  checks: readonly DiscoveredCheck[],
): Promise<void> {
  await writeFile(new URL('README.md', CHECKS_FOLDER), toChecksReadme(catalog, checks));
}

/** The text of checks/README.md: one table, written from the checks' definitions. */
export function toChecksReadme(catalog: Catalog, checks: readonly DiscoveredCheck[]): string {
  const categoryTables = catalog.categories.map(({ key, label, description }) => {
    const rows = catalog.checks
      .filter(({ category }) => category === key)
      .map(({ id, title, severity, impl }) => {
        const check = checks.find((candidate) => candidate.impl === impl);
        if (check === undefined) throw new Error(`${impl} is not loaded.`);
        const { says, requires } = check.definition;
        const requiredIds = requires.length > 0 ? requires.join(', ') : '–';
        const link = `[${id} ${title}](${id}-${title}/README.md)`;
        return `| ${link} | ${severity} | ${says.right} | ${requiredIds} |`;
      });
    const tableHead = '| check | severity | what passes | not evaluated if one of these fails |';
    return [`## ${label}`, '', description, '', tableHead, '|---|---|---|---|', ...rows].join('\n');
  });
  return `${[README_HEAD.replace('CATALOG', catalog.checksVersion), ...categoryTables].join('\n\n')}\n`;
}
