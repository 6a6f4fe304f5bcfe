/** Requires rule, versions, cases and documents of every folder under checks/. */
import type { Finding, HouseRule } from './finding.ts';
import type { SourceTree } from './source-tree.ts';

const FOLDER_NAME = /^[PSD]\d{1,2}-[a-z0-9]+(?:-[a-z0-9]+)*$/;
const FILE_NAME = /^(?:README\.md|cases\.ts|v[1-9]\d*\.ts)$/;
/** Placeholder that "npm run check:revise" writes. */
const HISTORY_PLACEHOLDER = /^- v\d+: what moves from v\d+, and why\.$/m;
const SECTIONS = ['Why', 'Rule', 'Fix', 'Source', 'History'];

export const checkFolders: HouseRule = (tree) =>
  listCheckFolders(tree).flatMap((folder) => [
    ...lintName(folder),
    ...lintFiles(tree, folder),
    ...lintReadme(tree, folder),
  ]);

/** Names of the folders under checks/. */
function listCheckFolders(tree: SourceTree): string[] {
  const names = tree.files.flatMap((file) => /^checks\/([^/]+)\//.exec(file)?.[1] ?? []);
  return [...new Set(names)];
}

function lintName(folder: string): Finding[] {
  if (FOLDER_NAME.test(folder)) return [];
  const message = `"${folder}" is not a name of a check: use <ID>-<title>, as in P6-price-integrity`;
  return [{ file: `checks/${folder}`, line: 1, message }];
}

function lintFiles(tree: SourceTree, folder: string): Finding[] {
  const path = `checks/${folder}/`;
  const missing = ['README.md', 'cases.ts', 'v1.ts'].filter((name) => !tree.has(path + name));
  const unexpected = tree.files.filter(
    (file) => file.startsWith(path) && !FILE_NAME.test(file.slice(path.length)),
  );
  return [
    ...missing.map((name) => ({
      file: path + name,
      line: 1,
      message: `missing: ${describePurpose(name)}`,
    })),
    ...unexpected.map((file) => ({
      file,
      line: 1,
      message:
        'a check folder holds README.md, cases.ts and v1.ts, v2.ts, … only: a digest covers the version alone',
    })),
  ];
}

function describePurpose(name: string): string {
  if (name === 'README.md') return `say ${SECTIONS.join(', ')} in it, as "## " sections`;
  if (name === 'cases.ts')
    return 'a check is shown to work by its cases, one at least for each outcome';
  return 'versions begin with v1.ts; "npm run check:new" writes it';
}

function lintReadme(tree: SourceTree, folder: string): Finding[] {
  const file = `checks/${folder}/README.md`;
  if (!tree.has(file)) return [];
  const readme = tree.read(file);
  return SECTIONS.flatMap((section): Finding[] => {
    const [before, body] = readme.split(`\n## ${section}\n`);
    if (before === undefined || body === undefined) {
      return [{ file, line: 1, message: `no section "## ${section}": write it` }];
    }
    const text = body.split('\n## ')[0] ?? '';
    const line = before.split('\n').length + 1;
    if (section === 'History' && HISTORY_PLACEHOLDER.test(text)) {
      return [{ file, line, message: '"## History" does not say what moves, and why: write it' }];
    }
    if (text.trim() !== '') return [];
    return [{ file, line, message: `"## ${section}" is empty: write it` }];
  });
}
