/** With `--source`, a finding names the file in the repository and its line. */

import { writeFile } from 'node:fs/promises';
import { beforeEach, expect, test } from 'vitest';
import { readSources } from '../../src/cli/sources.ts';
import { folderPerTest } from '../fixtures/temp-folder.ts';

const OPENAPI = `{
  "openapi": "3.1.0",
  "info": { "title": "A", "version": "1" },
  "paths": {
    "/weather": {
      "get": {
        "responses": {
          "200": { "description": "ok" }
        },
        "tags": ["a", "b"]
      }
    }
  }
}
`;

const folder = folderPerTest();
let file: string;
beforeEach(async () => {
  file = folder.at('openapi.json');
  await writeFile(file, OPENAPI);
});

test.each([
  [
    'the line of the member that a pointer names',
    '/openapi.json#/paths/~1weather/get/responses: no 402',
    7,
  ],
  ['the line of an entry of a list', '/openapi.json#/paths/~1weather/get/tags/1 is "b"', 10],
  ['the line of a quoted pointer', 'GET /weather, /openapi.json#"/paths/~1weather/get"; 2 more', 6],
  ['the line of a pointer without a document', 'it lacks these: /paths/~1weather/get/tags/1', 10],
  ['the first line for the path of a request', 'GET /paths/x: 404', 1],
  ['the nearest line above a missing member', '/openapi.json#/info/contact: missing', 3],
  ['the first line if no part of the pointer exists', '/openapi.json#/components/x: 0, none', 1],
  ['the first line if no pointer is given', '2 of 2 free operations in /openapi.json', 1],
])('a location is %s', async (_location, evidence, line) => {
  const sources = await readSources([`/openapi.json=${file}`]);
  expect(sources.locate({ id: 'S4', evidence })).toEqual({ file, line });
});

test('a location in a YAML file is the line of its own ranges', async () => {
  const yaml = await folder.write(
    'openapi.yaml',
    'openapi: 3.1.0\npaths:\n  /weather:\n    get:\n      tags: [a]\n',
  );
  const sources = await readSources([`/openapi.yaml=${yaml}`]);
  const locate = (evidence: string) => sources.locate({ id: 'S4', evidence })?.line;
  expect(locate('/openapi.yaml#/paths/~1weather/get: no 402')).toBe(4);
  expect(locate('/openapi.yaml#/paths/~1weather/get/responses: missing')).toBe(4);
  expect(locate('GET /openapi.yaml: 200')).toBe(1);
});

test('a location is null for a document without a source, or a check without a document', async () => {
  const sources = await readSources([`/openapi.json=${file}`]);
  expect(sources.locate({ id: 'S7', evidence: 'GET /llms.txt: 404' })).toBeNull();
  expect(sources.locate({ id: 'P2', evidence: 'GET /weather: 200' })).toBeNull();
});

test('a location is the first line of a source that is not JSON', async () => {
  await writeFile(file, '# A\n\ntext\n');
  const sources = await readSources([`/llms.txt=${file}`]);
  expect(sources.locate({ id: 'S7', evidence: 'no ">" line' })).toEqual({ file, line: 1 });
});

test.each([
  ['openapi.json', 'give PATH=FILE'],
  ['/openapi.json=/nowhere/openapi.json', 'cannot be read'],
])('--source %s is refused: %s', async (pair, why) => {
  await expect(readSources([pair])).rejects.toThrow(why);
});

test('a location is the first line of the source of "/" if no other source fits', async () => {
  const workflowFile = await folder.write('workflow.yml', 'on: push\n');
  const sources = await readSources([`/openapi.json=${file}`, `/=${workflowFile}`]);
  expect(sources.locate({ id: 'P2', evidence: 'GET /weather: 200' })).toEqual({
    file: workflowFile,
    line: 1,
  });
  expect(sources.locate({ id: 'S1', evidence: '/openapi.json' })).toEqual({ file, line: 1 });
});
