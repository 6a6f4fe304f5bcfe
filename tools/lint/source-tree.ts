import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Folders without sources of this repository. */
const SKIPPED = new Set(['node_modules', '.git', '.cache', 'data', 'coverage']);

/** The files of a checkout, read once. Paths have forward slashes and begin at the root. */
export type SourceTree = {
  root: string;
  files: readonly string[];
  has(file: string): boolean;
  /** Content with LF line ends. Throws if there is no such file. */
  read(file: string): string;
};

export function openTree(root: string): SourceTree {
  const files = walk(root, '').sort();
  const known = new Set(files);
  const contents = new Map<string, string>();
  return {
    root,
    files,
    has: (file) => known.has(file),
    read(file) {
      const content =
        contents.get(file) ?? readFileSync(join(root, file), 'utf8').replaceAll('\r\n', '\n');
      contents.set(file, content);
      return content;
    },
  };
}

function walk(root: string, folder: string): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
    if (entry.isDirectory()) return SKIPPED.has(entry.name) ? [] : walk(root, path);
    return entry.isFile() ? [path] : [];
  });
}
