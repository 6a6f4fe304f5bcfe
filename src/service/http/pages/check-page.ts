/** The views of two pages: the list of checks, and one check. The text of a check's page is its README. */
import { marked } from 'marked';
import type {
  Catalog,
  Explanation,
  ExplanationSection,
} from '../../../scanner/engine/catalog/catalog.ts';
import { POINTS, WEIGHTS } from '../../../scanner/engine/score.ts';
import { STACKS } from '../../../scanner/patches/patch.ts';
import { choosePlaceholders } from '../../../scanner/patches/patch-values.ts';
import { writePatches } from '../../../scanner/patches/write-patches.ts';
import { toHeading } from '../../../scanner/report/check-phrases.ts';
import type { CheckStatistics } from '../../directory/statistics.ts';
import { SCORE_NOTE } from '../documents/service-facts.ts';
import { STACK_NAMES, toPatchBlocks } from './report-sections.ts';

export function toChecksPage(catalog: Catalog) {
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
        .filter((check) => check.category === category.key)
        .map(({ id, title, severity }) => ({
          id,
          title,
          phrase: toHeading(title),
          severity,
          points: POINTS[severity],
        })),
    })),
  };
}

type CheckPageInput = {
  readonly explanation: Explanation;
  /** "Protocol & payment surface" */
  readonly categoryLabel: string;
  /** Results of this check over the last `days` days; null in revisions without statistics. */
  readonly statistics: CheckStatistics | null;
  readonly days: number;
};

/** These sections come last, because they do not help a seller to fix the finding. */
const LAST_SECTIONS: ReadonlySet<string> = new Set(['Source', 'History']);

export function toCheckPage({ explanation, categoryLabel, statistics, days }: CheckPageInput) {
  const { id, title, severity, impl, says } = explanation;
  const phrase = toHeading(title);
  // The page prints this HTML unescaped. A README of ours holds no text of an origin.
  const sections = explanation.sections.map((section) => ({
    heading: section.heading,
    html: toHtml(section),
  }));
  return {
    title: `${phrase} (${id} ${title})`,
    summary: `Why ${id} is checked, its rule, and how to fix its findings`,
    id,
    slug: title,
    phrase,
    severity,
    points: POINTS[severity],
    categoryLabel,
    impl,
    says,
    resultsText: statistics === null ? null : describeResults(statistics, days),
    sections: sections.filter(({ heading }) => !LAST_SECTIONS.has(heading)),
    lastSections: sections.filter(({ heading }) => LAST_SECTIONS.has(heading)),
    patches: toPatches(id),
  };
}

/** Colours the status of each outcome, and makes blocks of code focusable, because keyboard users must scroll them. */
function toHtml({ heading, text }: ExplanationSection): string {
  const html = marked.parse(text, { async: false });
  let blocks = 0;
  return html
    .replaceAll('<pre>', () => {
      blocks += 1;
      return `<pre class="copyable" tabindex="0" role="region" aria-label="${heading}, block ${blocks}">`;
    })
    .replace(
      /(<code>[^<]+<\/code>) \((pass|warn|fail)\b([^)]*)\)/g,
      '<span class="state $2">$2</span> $1$3',
    );
}

function describeResults({ pass, warn, fail, notDetermined }: CheckStatistics, days: number) {
  const total = pass + warn + fail + notDetermined;
  if (total === 0) return null;
  const share = Math.floor((100 * pass) / total);
  return `Results in the ${days} days before today, one for each seller and day, rounded down to multiples of five: ${pass} passed (${share} %), ${warn} warned, ${fail} failed, ${notDetermined} not determined.`;
}

/** The patches have placeholders, because this page is not about one seller. Standing checks have no patches. */
function toPatches(id: string) {
  const values = choosePlaceholders(id);
  return STACKS.flatMap((stack) => {
    const checkPatches = writePatches(id, stack, values);
    if (checkPatches === null) return [];
    const blocks = toPatchBlocks(checkPatches);
    return [{ stack, label: STACK_NAMES[stack], lead: checkPatches.lead, blocks }];
  });
}
