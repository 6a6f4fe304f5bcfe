import { mkdir, writeFile } from 'node:fs/promises';
import { pathToFileURL } from 'node:url';
import { describe, expect, test } from 'vitest';
import {
  CheckModuleError,
  discoverChecks,
} from '../../../../src/scanner/engine/catalog/discover-checks.ts';
import { folderPerTest } from '../../../fixtures/temp-folder.ts';

const folder = folderPerTest();

function discover() {
  return discoverChecks(pathToFileURL(`${folder.path}/`));
}

async function writeCheckFile(path: string, text: string): Promise<void> {
  await mkdir(folder.at(path, '..'), { recursive: true });
  await writeFile(folder.at(path), text);
}

/** Returns the source of a check file. `changes` replaces members of its definition. */
function checkSource(changes: Readonly<Record<string, unknown>> = {}): string {
  const members = {
    id: 'A1',
    version: 1,
    says: {
      right: 'All is as it should be.',
      wrong: 'Something is missing.',
      unjudged: 'It is not known.',
    },
    needs: ['root'],
    requires: [],
    outcomes: ['seen'],
    ...changes,
  };
  return `export default { ...${JSON.stringify(members)}, evaluate: () => ({}) };\n`;
}

describe('a folder of checks', () => {
  test('gives the digests of digests.json if the checks are built', async () => {
    await writeCheckFile('A1-first/v1.js', checkSource());
    await writeCheckFile('digests.json', JSON.stringify({ 'A1-first/v1.js': 'sha256:source' }));
    expect(await discover()).toMatchObject([{ impl: 'A1@1', digest: 'sha256:source' }]);
  });

  test('gives every version of each check, with the facts that a catalog needs', async () => {
    await writeCheckFile('README.md', 'Not a check.');
    await writeCheckFile('B2-second-check/v1.ts', checkSource({ id: 'B2', requires: ['A1'] }));
    for (const version of [10, 9])
      await writeCheckFile(`A1-first/v${version}.ts`, checkSource({ version }));
    await writeCheckFile('A1-first/cases.ts', 'throw new Error("no implementation");');

    const checks = await discover();
    expect(checks.map(({ impl, title }) => `${impl} ${title}`)).toEqual([
      'A1@9 first',
      'A1@10 first',
      'B2@1 second-check',
    ]);
    expect(checks[2]).toMatchObject({
      id: 'B2',
      version: 1,
      url: pathToFileURL(folder.at('B2-second-check/v1.ts')).href,
      folder: pathToFileURL(folder.at('B2-second-check/')).href,
      definition: { requires: ['A1'], outcomes: ['seen'] },
    });
  });

  test('gives a digest that ignores line ends, and changes with one more character', async () => {
    const digests: (string | undefined)[] = [];
    for (const text of [
      checkSource(),
      checkSource().replaceAll('\n', '\r\n'),
      `${checkSource()} `,
    ]) {
      await writeCheckFile('A1-first/v1.ts', text);
      digests.push((await discover())[0]?.digest);
    }

    expect(digests[0]).toMatch(/^sha256:[0-9a-f]{64}$/);
    expect(digests[1]).toBe(digests[0]);
    expect(digests[2]).not.toBe(digests[0]);
  });
});

describe('a file that exports no check is refused, with one sentence that names it', () => {
  test.each([
    ['no default export', 'export const check = 1;', 'its default export must be defineCheck'],
    ['no evaluate', 'export default { id: "A1" };', 'its default export must be defineCheck'],
    ['a syntax error', 'export default {', ''],
    ['an error when it is loaded', 'throw new Error("broken");', 'broken'],
  ])('%s', async (_, text, why) => {
    await writeCheckFile('A1-first/v1.ts', text);
    const discovering = discover();
    await expect(discovering).rejects.toBeInstanceOf(CheckModuleError);
    await expect(discovering).rejects.toThrow(`checks/A1-first/v1.ts exports no check: ${why}`);
  });
});
