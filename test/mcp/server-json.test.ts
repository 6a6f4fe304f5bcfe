/** What the registry of MCP servers compares: server.json and the manifest name the same server. */
import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';

async function read(name: string) {
  return JSON.parse(await readFile(new URL(`../../${name}`, import.meta.url), 'utf8'));
}

test('server.json names the package, its version and its MCP name', async () => {
  const [server, manifest] = await Promise.all([read('server.json'), read('package.json')]);
  expect(server).toMatchObject({
    name: manifest.mcpName,
    version: manifest.version,
    packages: [{ identifier: manifest.name, version: manifest.version }],
  });
  expect(server.description.length).toBeLessThanOrEqual(100);
});
