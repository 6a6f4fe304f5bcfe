import type { SourceTree } from './source-tree.ts';

export type Finding = {
  /** Path from the root of the repository. */
  file: string;
  /** From 1; a finding about a whole file names its first line. */
  line: number;
  /** Names the fault and the remedy. */
  message: string;
};

/** Returns a finding for each line of the file about which `findFault` returns a message. */
export function findInLines(
  tree: SourceTree,
  file: string,
  findFault: (line: string) => string | null,
): Finding[] {
  return tree
    .read(file)
    .split('\n')
    .flatMap((text, index) => {
      const message = findFault(text);
      return message === null ? [] : [{ file, line: index + 1, message }];
    });
}

/** A house rule reads the whole tree and changes nothing. */
export type HouseRule = (tree: SourceTree) => readonly Finding[] | Promise<readonly Finding[]>;
