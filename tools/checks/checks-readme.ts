import { writeFile } from 'node:fs/promises';
import type { Catalog } from '../../src/engine/catalog/catalog.ts';
import { CHECKS_FOLDER, type DiscoveredCheck } from '../../src/engine/catalog/discover-checks.ts';

const README_HEAD = `Lives here: one folder a check, with its versions (\`v1.ts\`, …), its cases and its README.
May not be imported from: the catalog says which versions run. A check runs nothing but \`define-check.ts\`, \`verdict.ts\` and its kit.
Start at S7-llms-txt/v1.ts; CONTRIBUTING.md tells how a check is added or revised.

# The checks

Written by \`npm run checks:readme\`, from catalog CATALOG and the checks themselves. The catalog has what
a check weighs; the check has its rule, in three sentences too (\`says\`): they change with the rule, and its
digest covers them, so an old catalog keeps its words.`;

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
    const tableHead = '| check | severity | what is right | means nothing without |';
    return [`## ${label}`, '', description, '', tableHead, '|---|---|---|---|', ...rows].join('\n');
  });
  return `${[README_HEAD.replace('CATALOG', catalog.checksVersion), ...categoryTables].join('\n\n')}\n`;
}
