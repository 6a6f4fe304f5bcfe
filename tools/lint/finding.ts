/** What a rule of the house finds, and what a rule is. */
import type { SourceTree } from './source-tree.ts';

export type Finding = {
  /** Path from the root of the repository. */
  file: string;
  /** From 1; a finding about a whole file names its first line. */
  line: number;
  /** What is wrong, and what to do instead. */
  message: string;
};

/** A house rule looks at the whole tree; none of them changes it. */
export type HouseRule = (tree: SourceTree) => readonly Finding[] | Promise<readonly Finding[]>;
