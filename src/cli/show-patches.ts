/** Patches as text for a terminal: what matters, then each file. */
import { STACKS, type Stack } from '../patches/patch.ts';
import { type PatchReport, placeholderValues, readPatchValues } from '../patches/patch-values.ts';
import { patchesFor } from '../patches/patches-for.ts';

/** Prints the patches of the outcome in the report; without a report, of each kind of finding. */
export function showPatches(checkId: string, stack: Stack, report: PatchReport | null): string {
  const values = report === null ? placeholderValues(checkId) : readPatchValues(report, checkId);
  const outcome = report?.results.find(({ id }) => id === checkId)?.outcome ?? null;
  const found = patchesFor(checkId, stack, values, outcome);
  if (found === null) {
    return `${checkId}: no patch; what it looks at is not the seller's to serve.\n`;
  }
  const lines = found.patches.flatMap(({ topic, patch }) =>
    'whyNot' in patch
      ? [`${topic}: ${patch.whyNot}`, '']
      : patch.parts.flatMap(({ file, code }) => [`--- ${topic}: ${file}`, code]),
  );
  return [`${checkId} for ${stack}. ${found.lead}`, '', ...lines].join('\n');
}

/** The stacks that there are, and the first one's patch. */
export function showStacks(checkId: string, report: PatchReport | null): string {
  const fill = report === null ? '--report FILE fills in your own values; ' : '';
  return [
    `Stacks: ${STACKS.join(', ')} (${fill}--stack NAME prints one alone)`,
    '',
    showPatches(checkId, STACKS[0], report),
  ].join('\n');
}
