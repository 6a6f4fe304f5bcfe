/** Small rules about names and leftovers of files. */
import { type Finding, findInLines, type HouseRule } from './finding.ts';

const ROOM = /^(?:utils?|helpers?|common|manager|misc)$/i;
const SOURCE = /^(?:src|plugins)\/.*\.ts$/;
const EXPORTED_TYPE =
  /^export (?:declare )?(?:abstract )?(?:type|interface|class|enum) ([A-Za-z_$][\w$]*)/;
// Each word is put together from parts, because this file would otherwise break its own rule.
const UNFINISHED = new RegExp(
  `\\b(?:${['TO', 'FIX'].map((half, i) => half + ['DO', 'ME'][i]).join('|')})\\b`,
);
const TEXT =
  /(?:\.(?:ts|mts|js|mjs|py|go|sol|css|html|eta|md|json|ya?ml|sh)|(?:^|\/)(?:Dockerfile|run))$/;

/** Refuses vague folder names such as `utils`: they collect unrelated files. */
export const roomNames: HouseRule = (tree) =>
  tree.files.flatMap((file): Finding[] => {
    const names = file.split('/').map((name) => name.replace(/\.[^/]*$/, ''));
    const room = names.find((name) => ROOM.test(name));
    if (room === undefined) return [];
    return [
      { file, line: 1, message: `"${room}" says nothing: name it after the one concept in it` },
    ];
  });

/** A type name has one meaning in `src` and `plugins`. Re-exports declare nothing, so they do not count. */
export const typeNames: HouseRule = (tree) => {
  const declaredIn = new Map<string, string>();
  return tree.files
    .filter((file) => SOURCE.test(file))
    .flatMap((file) =>
      findInLines(tree, file, (line) => {
        const [, name] = EXPORTED_TYPE.exec(line) ?? [];
        if (name === undefined) return null;
        const firstFile = declaredIn.get(name) ?? file;
        declaredIn.set(name, firstFile);
        if (firstFile === file) return null;
        return `${firstFile} exports a type ${name} too: give it its room's word`;
      }),
    );
};

export const unfinished: HouseRule = (tree) =>
  tree.files
    .filter((file) => TEXT.test(file) && file !== 'package-lock.json')
    .flatMap((file) =>
      findInLines(tree, file, (line) => {
        const [mark] = UNFINISHED.exec(line) ?? [];
        return mark === undefined
          ? null
          : `${mark}: do it, or open an issue and take the mark away`;
      }),
    );

/** `npm run catalog:new` leaves placeholders for before and after of each check. */
export const catalogChangelog: HouseRule = (tree) => {
  const file = 'catalog/CHANGELOG.md';
  if (!tree.has(file)) return [];
  return findInLines(tree, file, (line) => {
    const [row] = /`[PSD]\d+@\d+`: …/.exec(line) ?? [];
    return row === undefined ? null : `"${row}" says nothing: say before and after`;
  });
};

export const folderReadmes: HouseRule = (tree) => {
  const folders = tree.files.flatMap((file) => {
    const [wing, room] = [/^src\/[^/]+(?=\/)/, /^src\/[^/]+\/[^/]+(?=\/)/].map(
      (folder) => folder.exec(file)?.[0],
    );
    return [wing ?? [], room ?? []].flat();
  });
  return [...new Set(folders)]
    .filter((folder) => !tree.has(`${folder}/README.md`))
    .map((folder) => ({
      file: `${folder}/README.md`,
      line: 1,
      message:
        'missing: say in three lines what lives here, what it may not import, where to start',
    }));
};

/** nock replaces the sockets of its process for good, and a spy replaces what suites behind it use. */
const REPLACES_PARTS = /from 'nock'|chain-clients\.mjs|vi\.(?:mock|spyOn)\(/;

/** A suite that replaces parts of its process has a process of its own: its name says so (vitest.config.ts). */
export const suiteProjects: HouseRule = (tree) =>
  tree.files
    .filter((file) => /^test\/.*(?<!\.(?:apart|long))\.test\.ts$/.test(file))
    .filter((file) => REPLACES_PARTS.test(tree.read(file)))
    .map((file) => ({
      file,
      line: 1,
      message: 'replaces parts of its process: name it *.apart.test.ts, or *.long.test.ts',
    }));

/** Refuses registry addresses: those of one machine break "npm ci" elsewhere. Integrity hashes stay. */
export const lockfile: HouseRule = (tree) => {
  if (!tree.has('package-lock.json')) return [];
  const findings = findInLines(tree, 'package-lock.json', (line) =>
    // `file:` dependencies are links to folders of this repository.
    /"resolved": "[a-z+]+:/.test(line)
      ? 'no download addresses here: npm install --omit-lockfile-registry-resolved'
      : null,
  );
  // One finding says enough: a registry writes its address into every entry.
  return findings.slice(0, 1);
};
