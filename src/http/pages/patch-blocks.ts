import type { CheckPatches } from '../../patches/patches-for.ts';

export type PatchBlock = {
  readonly heading: string;
  /** Null where the heading says why this stack cannot mend it. */
  readonly code: string | null;
};

export function patchBlocks({ patches }: CheckPatches): readonly PatchBlock[] {
  return patches.flatMap(({ topic, patch }): readonly PatchBlock[] =>
    'whyNot' in patch
      ? [{ heading: `${topic}: ${patch.whyNot}`, code: null }]
      : patch.parts.map(({ file, code }) => ({
          heading: patches.length === 1 ? file : `${file} (${topic})`,
          code,
        })),
  );
}
