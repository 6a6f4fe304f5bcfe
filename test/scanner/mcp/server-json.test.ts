/** The registry of MCP servers compares server.json with package.json, so both must name the same server. */
import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { namePackage } from '../../../tools/pack/name-package.ts';

async function readJson(name: string) {
  return JSON.parse(await readFile(new URL(`../../../${name}`, import.meta.url), 'utf8'));
}

const readFiles = async () => ({
  manifest: await readJson('package.json'),
  server: await readJson('server.json'),
});

test('server.json names the package and its version, and has the placeholder OWNER', async () => {
  const { manifest, server } = await readFiles();
  expect(server).toMatchObject({
    name: manifest.mcpName,
    version: manifest.version,
    packages: [{ identifier: manifest.name, version: manifest.version }],
  });
  expect(server.description.length).toBeLessThanOrEqual(100);
  expect(manifest.mcpName).toBe('io.github.OWNER/x402-scan');
});

test('the publishing script writes the owner into both files', async () => {
  const named = namePackage('Some-Shop/scanner', await readFiles());
  expect(named.server['name']).toBe('io.github.Some-Shop/x402-scan');
  expect(named.server['name']).toMatch(/^[a-zA-Z0-9.-]+\/[a-zA-Z0-9._-]+$/);
  expect(named.manifest['mcpName']).toBe(named.server['name']);
  expect(named.manifest['repository']).toEqual({
    type: 'git',
    url: 'git+https://github.com/Some-Shop/scanner.git',
  });
  expect(named.server['repository']).toEqual({
    url: 'https://github.com/Some-Shop/scanner',
    source: 'github',
  });
});

test.each(['', 'x402-scan', 'a/b/c', '-a/b', 'a b/c'])(
  'the publishing script refuses the repository name %j',
  async (repository) => {
    const files = await readFiles();
    expect(() => namePackage(repository, files)).toThrow('give OWNER/REPOSITORY');
  },
);
