/**
 * `node tools/pack/name-package.ts OWNER/REPOSITORY`: writes the owner into package.json and server.json.
 * npm compares the repository with the workflow that publishes it, and the MCP registry gives a name
 * only to its owner, so one checkout cannot have the right values for everybody.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

export type PackageFiles = {
  readonly manifest: Readonly<Record<string, unknown>>;
  readonly server: Readonly<Record<string, unknown>>;
};

/** Names of owner and repository as GitHub spells them. */
const REPOSITORY = /^([A-Za-z0-9](?:[A-Za-z0-9-]{0,38}))\/[A-Za-z0-9._-]{1,100}$/;

/** Fills in both files, because the registry compares their names and versions. Throws for a malformed repository. */
export function namePackage(repository: string, { manifest, server }: PackageFiles): PackageFiles {
  const owner = REPOSITORY.exec(repository)?.[1];
  if (owner === undefined) {
    throw new Error(`${JSON.stringify(repository)} is not a repository: give OWNER/REPOSITORY`);
  }
  const url = `https://github.com/${repository}`;
  const mcpName = `io.github.${owner}/${manifest['name']}`;
  const { version } = manifest;
  const packages = Array.isArray(server['packages']) ? server['packages'] : [];
  return {
    manifest: { ...manifest, repository: { type: 'git', url: `git+${url}.git` }, mcpName },
    server: {
      ...server,
      name: mcpName,
      version,
      repository: { url, source: 'github' },
      packages: packages.map((entry: object) => ({
        ...entry,
        identifier: manifest['name'],
        version,
      })),
    },
  };
}

if (import.meta.main) {
  const files = {
    manifest: fileURLToPath(new URL('../../package.json', import.meta.url)),
    server: fileURLToPath(new URL('../../server.json', import.meta.url)),
  };
  const read = async (file: string) => JSON.parse(await readFile(file, 'utf8'));
  const [, , repository = ''] = process.argv;
  const before = { manifest: await read(files.manifest), server: await read(files.server) };
  const manifests = namePackage(repository, before);
  await writeFile(files.manifest, `${JSON.stringify(manifests.manifest, null, 2)}\n`);
  await writeFile(files.server, `${JSON.stringify(manifests.server, null, 2)}\n`);
}
