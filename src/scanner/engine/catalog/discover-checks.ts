import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { readMembers } from '../../model/json.ts';
import { messageOf, OperatorError } from '../../model/redact.ts';
import type { CheckDefinition } from '../define-check.ts';

/** A file exports no check. The message is one sentence that names the file. */
export class CheckModuleError extends OperatorError {
  override readonly name = 'CheckModuleError';
}

export type DiscoveredCheck = {
  readonly id: string;
  /** From the folder name: "price-integrity". */
  readonly title: string;
  readonly version: number;
  /** Catalogs use this name: "P6@2". */
  readonly impl: string;
  /** File URL that workers import. */
  readonly url: string;
  /** File URL of the folder with README.md and cases.ts, ending in a slash. */
  readonly folder: string;
  readonly digest: string;
  readonly definition: CheckDefinition;
};

export const CHECKS_FOLDER = new URL('../../../../checks/', import.meta.url);
/**
 * Name of the file that maps built check files ("P6-price-integrity/v2.js") to the digests of their sources.
 * Only the npm package has this file.
 */
export const DIGESTS_FILE = 'digests.json';

const FOLDER_NAME = /^([A-Z]{1,4}[0-9]{1,3})-([a-z0-9]+(?:-[a-z0-9]+)*)$/;
const FILE_NAME = /^v([1-9][0-9]*)\.(?:ts|js)$/;

/**
 * Loads every check, sorted by folder, then version. Throws CheckModuleError. Lint checks the rest of what a check
 * promises, because no release changes it.
 */
export async function discoverChecks(root = CHECKS_FOLDER): Promise<readonly DiscoveredCheck[]> {
  return loadFolders(root, readdirSync(root));
}

/** Loads every version of one check; none for an unknown id. Throws CheckModuleError. */
export async function discoverCheck(
  id: string,
  root = CHECKS_FOLDER,
): Promise<readonly DiscoveredCheck[]> {
  return loadFolders(
    root,
    readdirSync(root).filter((name) => name.startsWith(`${id}-`)),
  );
}

async function loadFolders(root: URL, names: readonly string[]) {
  const digests = readDigests(root);
  const folders = names.toSorted().map((name) => loadFolder(root, name, digests));
  return (await Promise.all(folders)).flat();
}

type Digests = Readonly<Record<string, string>>;

/** Returns an empty map if the checks are source files, because `loadFolder` computes their digests. */
function readDigests(root: URL): Digests {
  const url = new URL(DIGESTS_FILE, root);
  return existsSync(url) ? JSON.parse(readFileSync(url, 'utf8')) : {};
}

/** Returns implementations in version order; none for a name that is not the name of a check's folder. */
async function loadFolder(
  root: URL,
  name: string,
  digests: Digests,
): Promise<readonly DiscoveredCheck[]> {
  const [, id, title] = FOLDER_NAME.exec(name) ?? [];
  if (id === undefined || title === undefined) return [];
  const folder = new URL(`${name}/`, root);
  const versions = readdirSync(folder)
    .map((file) => ({ file, version: Number(FILE_NAME.exec(file)?.[1]) }))
    .filter(({ version }) => version > 0)
    .sort((one, other) => one.version - other.version);
  return Promise.all(
    versions.map(async ({ file, version }) => {
      const path = `${name}/${file}`;
      const url = new URL(file, folder);
      return {
        id,
        title,
        version,
        impl: `${id}@${version}`,
        url: url.href,
        folder: folder.href,
        digest: digests[path] ?? fileDigest(readFileSync(url, 'utf8')),
        definition: await loadDefinition(url, path),
      };
    }),
  );
}

async function loadDefinition(url: URL, path: string): Promise<CheckDefinition> {
  let why = 'its default export must be defineCheck({ … })';
  try {
    const { default: check } = await import(/* @vite-ignore */ url.href);
    // The compiler and lint have checked all other members.
    if (typeof readMembers(check)['evaluate'] === 'function') return check;
  } catch (error) {
    why = messageOf(error);
  }
  throw new CheckModuleError(`checks/${path} exports no check: ${why}`);
}

/** Returns "sha256:" and 64 hex digits. CRLF counts as LF, because a checkout may convert line ends. */
export function fileDigest(text: string): string {
  const normalised = text.replaceAll('\r\n', '\n');
  return `sha256:${createHash('sha256').update(normalised, 'utf8').digest('hex')}`;
}
