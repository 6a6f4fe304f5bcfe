/** Patches as text for a terminal: what matters, then each file. */
import { STACKS, type Stack } from '../patches/patch.ts';
import {
  addressValues,
  type PatchReport,
  type PatchValues,
  placeholderValues,
  readPatchValues,
} from '../patches/patch-values.ts';
import { patchesFor } from '../patches/patches-for.ts';
import { publicOriginOf } from './public-url.ts';

export type PatchedSeller = {
  readonly report: PatchReport | null;
  /** Of `--public-url`; null where it is not given. */
  readonly publicOrigin: string | null;
};

/** Prints the patches of the outcome in the report; without a report, of each kind of finding. */
export function showPatches(checkId: string, stack: Stack, seller: PatchedSeller): string {
  const { report } = seller;
  const values = valuesFor(checkId, seller);
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

function valuesFor(checkId: string, { report, publicOrigin }: PatchedSeller): PatchValues {
  if (report !== null) {
    return readPatchValues(report, publicOrigin ?? publicOriginOf(report.origin));
  }
  const placeholders = placeholderValues(checkId);
  return publicOrigin === null ? placeholders : { ...placeholders, ...addressValues(publicOrigin) };
}

/** The stacks that there are, and the first one's patch. */
export function showStacks(checkId: string, seller: PatchedSeller): string {
  const fill = seller.report === null ? '--report FILE fills in your own values; ' : '';
  return [
    `Stacks: ${STACKS.join(', ')} (${fill}--stack NAME prints one alone)`,
    '',
    showPatches(checkId, STACKS[0], seller),
  ].join('\n');
}
