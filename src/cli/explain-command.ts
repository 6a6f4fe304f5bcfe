/**
 * `explain <id>`: prints the reason, rule, outcomes and fixes of a check. `--stack` prints the patch of one
 * stack, with the values of `--report` and the address of `--public-url`; `--offer` the row of a pair.
 */
import { CatalogError, listCatalogs, readCatalog } from '../engine/catalog/catalog.ts';
import { type Explanation, explainAlone } from '../engine/catalog/explain.ts';
import { STACKS, type Stack } from '../patches/patch.ts';
import { EXPLANATIONS } from '../pay-test/explanations.ts';
import { isTrialId, TRIALS, type TrialId } from '../pay-test/result.ts';
import { toPhrase } from '../words/check-phrases.ts';
import { explainTopic, TOPICS } from './explain-topics.ts';
import { breakCommands } from './formatters/escapes.ts';
import { type Streams, write } from './io.ts';
import {
  type PatchedSeller,
  parsePublicUrl,
  showPatches,
  showStacks,
  showTrialPatch,
} from './show-patches.ts';
import { parseChoice, readFlags, UsageError, usageLine } from './usage.ts';

/** Throws UsageError for an unknown check or stack, and for a file that is no report. */
export async function explainCommand(args: readonly string[], { out }: Streams): Promise<0> {
  const { id, file, stack, publicOrigin, offer } = parse(args);
  if (offer !== null) {
    // Loaded on demand: the table of schemes serves no other explanation.
    const { explainOffer } = await import('./explain-offer.ts');
    await write(out, breakCommands(explainOffer(offer)));
    return 0;
  }
  const topic = explainTopic(id.toLowerCase());
  if (topic !== null) {
    await write(out, topic);
    return 0;
  }
  // Loaded on demand: most explanations read no report.
  const report =
    file === null ? null : await (await import('./patch-report.ts')).readPatchReport(file);
  const seller = { report, publicOrigin };
  const wanted = id.toUpperCase();
  if (isTrialId(wanted)) {
    const text =
      stack === null ? renderTrial(wanted, seller) : showTrialPatch(wanted, stack, seller);
    await write(out, breakCommands(text));
    return 0;
  }
  const newest = (await listCatalogs()).at(-1) ?? 'at all';
  const { catalog, isChanged } = await readCatalog(newest);
  if (isChanged) {
    throw new CatalogError(`catalog/${newest}.json is refused: it is published and was changed.`);
  }
  if (!catalog.checks.some((check) => check.id === wanted)) {
    const ids = catalog.checks.map((check) => check.id).join(', ');
    throw new UsageError(
      `${id}: no such check; there are ${ids}, the trials T1 to T18, and of a report's other parts ${TOPICS.join(', ')}`,
    );
  }
  const text =
    stack === null
      ? render(await explainAlone(wanted, catalog), seller)
      : showPatches(wanted, stack, seller);
  await write(out, breakCommands(text));
  return 0;
}

type Wanted = {
  readonly id: string;
  readonly file: string | null;
  readonly stack: Stack | null;
  readonly publicOrigin: string | null;
  /** "exact,eip155:8453" */
  readonly offer: string | null;
};

function parse(args: readonly string[]): Wanted {
  const { values, positionals } = readFlags('explain', {
    args: [...args],
    allowPositionals: true,
    options: {
      report: { type: 'string' },
      stack: { type: 'string' },
      'public-url': { type: 'string' },
      offer: { type: 'string' },
    },
  });
  const [id, ...more] = positionals;
  if (id === undefined || more.length > 0) throw new UsageError(usageLine('explain'));
  const stack = values.stack === undefined ? null : parseChoice('--stack', values.stack, STACKS);
  const url = values['public-url'];
  const publicOrigin = url === undefined ? null : parsePublicUrl(url);
  const offer = values.offer ?? null;
  if (offer !== null && id.toUpperCase() !== 'P3') {
    throw new UsageError(`--offer ${JSON.stringify(offer)}: only P3 has rows of pairs`);
  }
  return { id, offer, file: values.report ?? null, stack, publicOrigin };
}

function render(explanation: Explanation, seller: PatchedSeller): string {
  const { id, title, severity, category, impl, outcomes, sections } = explanation;
  return [
    `${id} ${toPhrase(title)} (${title}, ${severity}, ${category}, ${impl})`,
    '',
    ...sections.flatMap(({ heading, text }) => [heading.toUpperCase(), '', text.trim(), '']),
    ...(category === 'directory' ? [] : ['PATCH', '', showStacks(id, seller)]),
    `Outcomes, first match wins: ${outcomes.join(', ')}`,
    '',
  ].join('\n');
}

/** A trial of the pay-test: why it is there, and how to mend what it finds. */
function renderTrial(id: TrialId, seller: PatchedSeller): string {
  const { why, fix, upstream } = EXPLANATIONS[id];
  return [
    `${id} ${TRIALS[id]} (a trial of pay-test; docs/pay-test.md has the rule)`,
    '',
    'WHY',
    '',
    why,
    '',
    'FIX',
    '',
    fix,
    '',
    ...(upstream.length === 0 ? [] : ['SEEN IN MIDDLEWARES', '', ...upstream, '']),
    'PATCH',
    '',
    `Stacks: ${STACKS.join(', ')} (--report FILE fills in your own values; --stack NAME prints one alone)`,
    '',
    showTrialPatch(id, STACKS[0], seller),
  ].join('\n');
}
