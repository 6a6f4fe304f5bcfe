import type { ScanReport } from '../../model/report.ts';
import { namePart, STACKS, type Stack } from '../../patches/patch.ts';
import { readPatchValues } from '../../patches/patch-values.ts';
import { type CheckPatches, isStack, patchesFor } from '../../patches/patches-for.ts';
import type { PageFinding } from './report-findings.ts';

/** The page leaves out a longer patch. Patches can be long, because they list every route of the seller. */
const MAX_PATCH_CHARS = 4_500;
const DEFAULT_STACK: Stack = 'express';

/** Adds to each finding its patch for one stack. `stacks` lists the stacks that the reader can choose. */
export function toFirstFixes(
  report: ScanReport,
  findings: readonly PageFinding[],
  requestedStack: string | null,
  isBrief: boolean,
) {
  const isValid = requestedStack !== null && isStack(requestedStack);
  const stack = isValid ? requestedStack : DEFAULT_STACK;
  const values = readPatchValues(report);
  const fixes = findings.map((finding) => {
    const checkPatches = patchesFor(finding.id, stack, values, finding.outcome);
    return { ...finding, patch: checkPatches && toShownPatch(checkPatches, isBrief) };
  });
  return {
    fixes,
    stack,
    stackName: STACK_NAMES[stack],
    stacks: STACKS.map((name) => ({ name, label: STACK_NAMES[name], isChosen: name === stack })),
    hasPatch: fixes.some(({ patch }) => patch !== null),
  };
}

function toShownPatch(checkPatches: CheckPatches, isBrief: boolean) {
  const blocks = toPatchBlocks(checkPatches);
  const chars = blocks.reduce((sum, { code }) => sum + (code?.length ?? 0), 0);
  return { lead: checkPatches.lead, blocks, isLeftOut: isBrief || chars > MAX_PATCH_CHARS };
}

export type PatchBlock = {
  readonly heading: string;
  /** Null if no patch exists for this stack; the heading then says why. */
  readonly code: string | null;
};

export function toPatchBlocks({ patches }: CheckPatches): readonly PatchBlock[] {
  return patches.flatMap(({ topic, patch }): readonly PatchBlock[] =>
    'whyNot' in patch
      ? [{ heading: `${topic}: ${patch.whyNot}`, code: null }]
      : patch.parts.map((part) => ({
          heading: patches.length === 1 ? part.file : `${namePart(part)} (${topic})`,
          code: part.code,
        })),
  );
}

export const STACK_NAMES: Readonly<Record<Stack, string>> = {
  express: 'Express',
  hono: 'Hono',
  next: 'Next.js',
  fastapi: 'FastAPI',
  flask: 'Flask',
  go: 'Go',
  nginx: 'nginx',
};
