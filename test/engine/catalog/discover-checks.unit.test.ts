import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { CheckModuleError, discoverChecks } from '../../../src/engine/catalog/discover-checks.ts';

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'checks-'));
});
afterEach(() => rm(folder, { recursive: true }));

function discover() {
  return discoverChecks(pathToFileURL(`${folder}/`));
}

async function writeCheckFile(path: string, text: string): Promise<void> {
  await mkdir(join(folder, path, '..'), { recursive: true });
  await writeFile(join(folder, path), text);
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
      url: pathToFileURL(join(folder, 'B2-second-check/v1.ts')).href,
      folder: pathToFileURL(join(folder, 'B2-second-check/')).href,
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

describe('a check that breaks the contract is refused, with file and reason', () => {
  test.each([
    ['a folder without a title', 'A1/v1.ts', checkSource(), 'must be named like'],
    ['another id', 'A2-other/v1.ts', checkSource(), 'id is "A1", the folder says "A2"'],
    ['another version', 'A1-first/v2.ts', checkSource(), 'version is 1, the file says 2'],
    ['no default export', 'A1-first/v1.ts', 'export const check = 1;', 'must be defineCheck'],
    ['no evaluate', 'A1-first/v1.ts', 'export default { id: "A1" };', 'must be defineCheck'],
    ['a syntax error', 'A1-first/v1.ts', 'export default {', 'cannot be loaded'],
    [
      'an unknown prerequisite',
      'A1-first/v1.ts',
      checkSource({ requires: ['Z9'] }),
      'A1 requires Z9: no such check',
    ],
    ['requiring itself', 'A1-first/v1.ts', checkSource({ requires: ['A1'] }), 'A1 requires itself'],
  ])('%s', async (_, path, text, message) => {
    await writeCheckFile(path, text);
    const discovering = discover();
    await expect(discovering).rejects.toBeInstanceOf(CheckModuleError);
    await expect(discovering).rejects.toThrow(message);
  });

  test('an id with two folders', async () => {
    await writeCheckFile('A1-first/v1.ts', checkSource());
    await writeCheckFile('A1-second/v1.ts', checkSource());
    await expect(discover()).rejects.toThrow('A1 has two folders');
  });

  test('prerequisites in a circle', async () => {
    await writeCheckFile('A1-first/v1.ts', checkSource({ requires: ['B2'] }));
    await writeCheckFile('B2-second/v1.ts', checkSource({ id: 'B2', requires: ['A1'] }));
    await expect(discover()).rejects.toThrow('B2 requires itself, directly or through others');
  });

  test('two bad checks: the message lists both', async () => {
    await writeCheckFile('A1-first/v1.ts', checkSource({ id: 'A2' }));
    await writeCheckFile('B2-second/v1.ts', checkSource({ id: 'B3' }));
    await expect(discover()).rejects.toThrow(/A1-first\/v1\.ts.*B2-second\/v1\.ts/s);
  });
});
