import { readFile } from 'node:fs/promises';
import { EngineFault } from '../../workers/job.ts';
import type { CheckDefinition } from '../define-check.ts';
import { type Catalog, type CatalogCheck, CatalogError, entryBreaches } from './catalog.ts';
import { type DiscoveredCheck, discoverCheck } from './discover-checks.ts';

export type ExplanationSection = {
  /** "Why", "Rule", "Fix", "Source", "History" */
  readonly heading: string;
  /** Markdown, without its heading. */
  readonly text: string;
};

/** What the catalog and the check say, and the sections of its README, in order. */
export type Explanation = Omit<CatalogCheck, 'digest'> &
  Pick<CheckDefinition, 'says' | 'needs' | 'requires' | 'outcomes'> & {
    readonly sections: readonly ExplanationSection[];
  };

/** Throws EngineFault when the catalog does not run the check, or its folder has no README. */
export async function explainCheck(
  id: string,
  catalog: Pick<Catalog, 'checks' | 'checksVersion'>,
  checks: readonly DiscoveredCheck[],
): Promise<Explanation> {
  const entry = catalog.checks.find((one) => one.id === id);
  if (!entry) throw new EngineFault(`Catalog ${catalog.checksVersion} has no check ${id}.`);
  return explain(entry, checks);
}

/**
 * Loads only this check. Throws EngineFault as explainCheck does, and CatalogError when the check's file
 * differs from the one that the catalog pins.
 */
export async function explainAlone(id: string, catalog: Catalog): Promise<Explanation> {
  const checks = await discoverCheck(id);
  const ids = new Set(catalog.checks.map((entry) => entry.id));
  const breaches = catalog.checks
    .filter((entry) => entry.id === id)
    .flatMap((entry) => {
      const check = checks.find(({ impl }) => impl === entry.impl);
      return entryBreaches(entry, check, ids);
    });
  if (breaches.length > 0) {
    const { checksVersion } = catalog;
    throw new CatalogError(`catalog/${checksVersion}.json is refused: ${breaches.join('; ')}.`);
  }
  return explainCheck(id, catalog, checks);
}

/** Splits at second-level headings; text before the first one is dropped. */
export function readSections(markdown: string): readonly ExplanationSection[] {
  const sections: { heading: string; lines: string[] }[] = [];
  let fenced = false;
  for (const line of markdown.split(/\r?\n/)) {
    // A fenced example may contain "## " lines that are not headings.
    if (line.startsWith('```')) fenced = !fenced;
    if (!fenced && line.startsWith('## ')) sections.push({ heading: line.slice(3), lines: [] });
    else sections.at(-1)?.lines.push(line);
  }
  return sections.map(({ heading, lines }) => {
    return { heading: heading.trim(), text: lines.join('\n').trim() };
  });
}

async function explain(
  { id, title, severity, category, impl }: CatalogCheck,
  checks: readonly DiscoveredCheck[],
): Promise<Explanation> {
  const check = checks.find((one) => one.impl === impl);
  if (!check) throw new EngineFault(`${impl} is not loaded.`);
  const { says, needs, requires, outcomes } = check.definition;
  const readme = new URL('README.md', check.folder);
  const markdown = await readFile(readme, 'utf8').catch((error: unknown) => {
    throw new EngineFault(`${readme.pathname} cannot be read: ${String(error)}`);
  });
  const sections = readSections(markdown);
  return { id, title, severity, category, impl, says, needs, requires, outcomes, sections };
}
