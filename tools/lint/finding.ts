import type { SourceTree } from './source-tree.ts';

export type Finding = {
  /** Path from the root of the repository. */
  file: string;
  /** From 1; a finding about a whole file names its first line. */
  line: number;
  /** Names the fault and the remedy. */
  message: string;
};

/** A house rule reads the whole tree and changes nothing. */
export type HouseRule = (tree: SourceTree) => readonly Finding[] | Promise<readonly Finding[]>;
