/** The pages of the catalog and of one check. Their text is the check's README. */
import { marked } from 'marked';
import type { Catalog, CatalogCheck } from '../../engine/catalog/catalog.ts';
import type { Explanation } from '../../engine/catalog/explain.ts';
import { POINTS, WEIGHTS } from '../../engine/score.ts';
import { STACKS } from '../../patches/patch.ts';
import { placeholderValues } from '../../patches/patch-values.ts';
import { patchesFor } from '../../patches/patches-for.ts';
import { SCORE_NOTE } from '../documents/score-note.ts';

export function checksPage(catalog: Catalog) {
  return {
    title: `The ${catalog.checks.length} checks`,
    summary: `The checks of catalog ${catalog.checksVersion}, their severities and the score`,
    checksVersion: catalog.checksVersion,
    scoring: SCORE_NOTE,
    categories: catalog.categories.map((category) => ({
      label: category.label,
      description: category.description,
      weight: WEIGHTS[category.key],
      checks: catalog.checks
        .filter((check: CatalogCheck) => check.category === category.key)
        .map(({ id, title, severity }) => ({
          id,
          title,
          severity,
          points: POINTS[severity],
        })),
    })),
  };
}

export function checkPage(explanation: Explanation) {
  const { id, title, severity, category, impl, outcomes, sections } = explanation;
  return {
    title: `${id} ${title}`,
    summary: `Why ${id} is checked, its rule, and how to mend what it finds`,
    id,
    name: title,
    severity,
    category,
    impl,
    outcomes,
    // These READMEs are ours; they hold no text of an origin.
    sections: sections.map(({ heading, text }) => ({
      heading,
      // A code block may scroll sideways, and keyboards scroll only focusable elements.
      html: marked.parse(text, { async: false }).replaceAll('<pre>', '<pre tabindex="0">'),
    })),
    patches: patchesOf(id),
  };
}

type Block = { readonly heading: string; readonly code: string | null };

/** Patches with placeholders, because the page has no seller; standing checks have none. */
function patchesOf(id: string) {
  const values = placeholderValues(id);
  return STACKS.flatMap((stack) => {
    const found = patchesFor(id, stack, values);
    if (found === null) return [];
    const blocks: readonly Block[] = found.patches.flatMap(({ topic, patch }): readonly Block[] =>
      'whyNot' in patch
        ? [{ heading: `${topic}: ${patch.whyNot}`, code: null }]
        : patch.parts.map(({ file, code }) => ({ heading: `${topic}: ${file}`, code })),
    );
    return [{ stack, lead: found.lead, blocks }];
  });
}
