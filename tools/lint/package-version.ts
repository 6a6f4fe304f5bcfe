/** package.json states the version. Every other file that names it must agree. */
import type { Finding, HouseRule } from './finding.ts';
import type { SourceTree } from './source-tree.ts';

const SOURCE = 'package.json';
/** A tarball or package of npm, and a tag of this repository. */
const NAMED_VERSION = /(?:\bx402-scan[-@]|<this repository>@v|\brev: v)(\d+\.\d+\.\d+)/g;
/** Documents from which users copy. A change log also names older versions. */
const DOCUMENT = /^(?!.*CHANGELOG|test\/).*\.(?:md|ya?ml|sh|eta|mjs)$/;
const MANIFESTS = ['server.json', 'package-lock.json'];
const OWN_NAME = /"(?:name|identifier)": "(?:[^"]*\/)?x402-scan"/;
const VERSION_MEMBER = /"version": "([^"]+)"/;

type NamedVersion = { readonly file: string; readonly line: number; readonly version: string };

export const packageVersion: HouseRule = (tree) => {
  if (!tree.has(SOURCE)) return [];
  const [, own] = VERSION_MEMBER.exec(tree.read(SOURCE)) ?? [];
  return [
    ...tree.files
      .filter((file) => DOCUMENT.test(file))
      .flatMap((file) => findVersionsInText(tree, file)),
    ...MANIFESTS.filter((file) => tree.has(file)).flatMap((file) => findVersionMembers(tree, file)),
  ]
    .filter(({ version }) => version !== own)
    .map(({ file, line, version }): Finding => {
      const message = `names version ${version}, and ${SOURCE} says ${own}: name the same`;
      return { file, line, message };
    });
};

function findVersionsInText(tree: SourceTree, file: string): NamedVersion[] {
  return tree
    .read(file)
    .split('\n')
    .flatMap((text, index) =>
      [...text.matchAll(NAMED_VERSION)].map(([, version = '']) => {
        return { file, line: index + 1, version };
      }),
    );
}

/** Finds the first version after each line that names the package. */
function findVersionMembers(tree: SourceTree, file: string): NamedVersion[] {
  const lines = tree.read(file).split('\n');
  return lines.flatMap((text, index) => {
    if (!OWN_NAME.test(text)) return [];
    const versionIndex = lines.findIndex(
      (line, lineIndex) => lineIndex > index && VERSION_MEMBER.test(line),
    );
    const [, version] = VERSION_MEMBER.exec(lines[versionIndex] ?? '') ?? [];
    return version === undefined ? [] : [{ file, line: versionIndex + 1, version }];
  });
}
