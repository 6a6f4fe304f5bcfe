import { readFile } from 'node:fs/promises';
import { EngineFault } from '../../workers/job.ts';
import type { CheckDefinition } from '../define-check.ts';
import { type Catalog, type CatalogCheck, CatalogError, findDigestBreaches } from './catalog.ts';
import { type DiscoveredCheck, discoverCheck } from './discover-checks.ts';

export type ExplanationSection = {
  /** "Why", "Rule", "Fix", "Source", "History" */
  readonly heading: string;
  /** Markdown, without its heading. */
  readonly text: string;
};

/** A check's catalog entry and definition, and the sections of its README, in order. */
export type Explanation = Omit<CatalogCheck, 'digest'> &
  Pick<CheckDefinition, 'says' | 'needs' | 'requires' | 'outcomes'> & {
    readonly sections: readonly ExplanationSection[];
  };

/** Throws EngineFault when the catalog does not run the check, or the check's folder has no README. */
export async function explainCheck(
  id: string,
  catalog: Pick<Catalog, 'checks' | 'checksVersion'>,
  checks: readonly DiscoveredCheck[],
): Promise<Explanation> {
  const entry = catalog.checks.find((check) => check.id === id);
  if (!entry) throw new EngineFault(`Catalog ${catalog.checksVersion} has no check ${id}.`);
  const { title, severity, category, impl } = entry;
  const check = checks.find((loaded) => loaded.impl === impl);
  if (!check) throw new EngineFault(`${impl} is not loaded.`);
  const { says, needs, requires, outcomes } = check.definition;
  const readme = new URL('README.md', check.folder);
  const markdown = await readFile(readme, 'utf8').catch((error: unknown) => {
    throw new EngineFault(`${readme.pathname} cannot be read: ${String(error)}`);
  });
  const sections = readSections(markdown);
  return { id, title, severity, category, impl, says, needs, requires, outcomes, sections };
}

/**
 * Explains a check and loads no other check. Throws EngineFault as `explainCheck` does, and CatalogError if
 * the catalog pins another digest for the check's file.
 */
export async function explainOneCheck(id: string, catalog: Catalog): Promise<Explanation> {
  const checks = await discoverCheck(id);
  const breaches = catalog.checks
    .filter((entry) => entry.id === id)
    .flatMap((entry) => findDigestBreaches(entry, checks));
  if (breaches.length > 0) {
    const { checksVersion } = catalog;
    throw new CatalogError(`catalog/${checksVersion}.json is refused: ${breaches.join('; ')}.`);
  }
  return explainCheck(id, catalog, checks);
}

/** Splits at second-level headings; text before the first heading is dropped. */
export function readSections(markdown: string): readonly ExplanationSection[] {
  const sections: { heading: string; lines: string[] }[] = [];
  let isFenced = false;
  for (const line of markdown.split(/\r?\n/)) {
    // A fenced example may contain "## " lines that are not headings.
    if (line.startsWith('```')) isFenced = !isFenced;
    if (!isFenced && line.startsWith('## ')) sections.push({ heading: line.slice(3), lines: [] });
    else sections.at(-1)?.lines.push(line);
  }
  return sections.map(({ heading, lines }) => {
    return { heading: heading.trim(), text: lines.join('\n').trim() };
  });
}
