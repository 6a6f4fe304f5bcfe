/** Findings name files as the readers of pipelines match them. */

import { mkdir, symlink } from 'node:fs/promises';
import { beforeEach, describe, expect, test } from 'vitest';
import { FORMATS } from '../../src/cli/formatters/formats.ts';
import { readRepository } from '../../src/cli/sources.ts';
import { folderPerTest } from '../fixtures/temp-folder.ts';
import { FAILED, printable, WARNED } from './printable.ts';

const root = folderPerTest();
beforeEach(async () => {
  await mkdir(root.at('api', 'docs'), { recursive: true });
});

describe('the path of a file', () => {
  test.each([
    ['docs/openapi.json', 'api/docs/openapi.json'],
    ['./docs/../docs//openapi.json', 'api/docs/openapi.json'],
    ['../README.md', 'README.md'],
    ['../../elsewhere.json', null],
    ['/etc/hosts', null],
  ])('is relative to the root of the repository: %s is %s', (file, expected) => {
    for (const name of ['GITHUB_WORKSPACE', 'CI_PROJECT_DIR']) {
      const repository = readRepository({ [name]: root.path }, root.at('api'));
      expect(repository.toPath(file)).toBe(expected);
      expect(repository.toPath(root.at('api', 'docs', 'x.json'))).toBe('api/docs/x.json');
    }
  });

  test('is relative to the working folder outside a pipeline, and if the root does not exist', () => {
    for (const env of [{}, { GITHUB_WORKSPACE: root.at('nowhere') }, { CI_PROJECT_DIR: '' }]) {
      expect(readRepository(env, root.at('api')).toPath('docs/a.json')).toBe('docs/a.json');
    }
  });

  test('is the same if a link leads to the root', async () => {
    const link = root.at('link');
    await symlink(root.at('api'), link);
    const repository = readRepository({ GITHUB_WORKSPACE: link }, root.at('api'));
    expect(repository.toPath('docs/a.json')).toBe('docs/a.json');
  });
});

test.each([
  ['a/b/.github/workflows/ci.yml@refs/heads/main', undefined, '.github/workflows/ci.yml'],
  ['a/b/.github/workflows/ci.yml@refs/heads/x@y', undefined, '.github/workflows/ci.yml'],
  ['a/other/.github/workflows/ci.yml@refs/heads/main', undefined, null],
  ['', undefined, null],
  [undefined, '.gitlab-ci.yml', '.gitlab-ci.yml'],
  [undefined, 'ci/main.yml', 'ci/main.yml'],
  [undefined, '../ci.yml', null],
  [undefined, '/ci.yml', null],
  [undefined, 'https://gitlab.example/ci.yml', null],
  [undefined, 'ci.yml@group/project', null],
])('the file of the pipeline by %s and %s is %s', (workflow, config, expected) => {
  const env = { GITHUB_REPOSITORY: 'a/b', GITHUB_WORKFLOW_REF: workflow, CI_CONFIG_PATH: config };
  expect(readRepository(env, root.path).pipelineFile).toBe(expected);
});

/**
 * The rules of code scanning: a location for each result, a relative URI with "/", percent-encoded, without "." and
 * "..", and a first line. https://docs.github.com/code-security/reference/code-scanning/sarif-files/sarif-support
 */
function expectCodeScanningTakes(sarif: string): readonly string[] {
  const [{ results }] = JSON.parse(sarif).runs;
  expect(results.length).toBeGreaterThan(0);
  return results.map(({ locations }: { locations: unknown[] }) => {
    expect(locations.length).toBeGreaterThan(0);
    expect(locations[0]).toEqual({
      physicalLocation: {
        artifactLocation: { uri: expect.any(String) },
        region: { startLine: expect.any(Number) },
      },
    });
    const [{ physicalLocation }] = locations as never as [{ physicalLocation: never }];
    const { artifactLocation, region } = physicalLocation as {
      artifactLocation: { uri: string };
      region: { startLine: number };
    };
    expect(region.startLine).toBeGreaterThanOrEqual(1);
    expect(artifactLocation.uri).toMatch(
      /^(?!\.{0,2}(?:\/|$))[\w.~!*'()%-]+(?:\/[\w.~!*'()%-]+)*$/,
    );
    expect(URL.canParse(artifactLocation.uri)).toBe(false);
    return artifactLocation.uri;
  });
}

test('code scanning takes the locations of findings with and without a source, inside and outside the root', () => {
  const printed = [FAILED, WARNED];
  const toFile = (file: string) => () => ({ file, line: 3 });
  const inPipeline = readRepository(
    { GITHUB_WORKSPACE: root.path, GITHUB_WORKFLOW_REF: 'a/b/.github/workflows/ci 1.yml@x' },
    root.at('api'),
  );
  const outside = readRepository({}, root.at('api'));
  const urisOf = (locate: ReturnType<typeof toFile> | null, repository: typeof outside) =>
    expectCodeScanningTakes(
      FORMATS.sarif(printable({ printed, repository, ...(locate === null ? {} : { locate }) })),
    )[0];
  expect(urisOf(null, outside)).toBe('README.md');
  expect(urisOf(null, inPipeline)).toBe('.github/workflows/ci%201.yml');
  expect(urisOf(toFile('docs/a b#1:ü.json'), inPipeline)).toBe('api/docs/a%20b%231%3A%C3%BC.json');
  expect(urisOf(toFile('../docs/openapi.json'), outside)).toBe('README.md');
});

test('annotations, Code Quality and JUnit have the same path', () => {
  const repository = readRepository({ GITHUB_WORKSPACE: root.path }, root.at('api'));
  const locate = () => ({ file: './docs/openapi.json', line: 3 });
  const scan = printable({ printed: [FAILED], repository, locate });
  expect(FORMATS.github(scan)).toContain('::error file=api/docs/openapi.json,line=3,');
  expect(FORMATS.junit(scan)).toContain('file="api/docs/openapi.json" line="3"');
  expect(JSON.parse(FORMATS.codequality(scan))[0].location).toEqual({
    path: 'api/docs/openapi.json',
    lines: { begin: 3 },
  });
});
