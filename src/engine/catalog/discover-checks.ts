import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { readMembers } from '../../model/json.ts';
import type { CheckDefinition, Sentences } from '../define-check.ts';

/** A check file breaks the contract. The message lists every breach. */
export class CheckModuleError extends Error {
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

export const CHECKS_FOLDER = new URL('../../../checks/', import.meta.url);
/**
 * Name of the file that maps built check files ("P6-price-integrity/v2.js") to the digests of their sources.
 * Only the npm package has this file.
 */
export const DIGESTS_FILE = 'digests.json';

const FOLDER_NAME = /^([A-Z]{1,4}[0-9]{1,3})-([a-z0-9]+(?:-[a-z0-9]+)*)$/;
const FILE_NAME = /^v([1-9][0-9]*)\.(?:ts|js)$/;

/** Loads every check, sorted by folder, then version. Throws CheckModuleError with every breach. */
export async function discoverChecks(root = CHECKS_FOLDER): Promise<readonly DiscoveredCheck[]> {
  const { checks, breaches } = await loadFolders(root, readdirSync(root));
  throwIfBroken([...breaches, ...findDuplicates(checks), ...findPrerequisiteBreaches(checks)]);
  return checks;
}

/**
 * Loads every version of one check. Its `requires` are not validated, because no other check is loaded.
 * Returns an empty list for an unknown id. Throws CheckModuleError.
 */
export async function discoverCheck(
  id: string,
  root = CHECKS_FOLDER,
): Promise<readonly DiscoveredCheck[]> {
  const names = readdirSync(root).filter((name) => name.startsWith(`${id}-`));
  const { checks, breaches } = await loadFolders(root, names);
  throwIfBroken([...breaches, ...findDuplicates(checks)]);
  return checks;
}

async function loadFolders(root: URL, names: readonly string[]) {
  const digests = readDigests(root);
  const folders = names.toSorted().map((name) => loadFolder(root, name, digests));
  const entries = (await Promise.all(folders)).flat();
  return {
    checks: entries.filter((entry) => typeof entry !== 'string'),
    breaches: entries.filter((entry) => typeof entry === 'string'),
  };
}

type Digests = Readonly<Record<string, string>>;

/** Returns an empty map if the checks are source files, because `loadCheck` computes their digests. */
function readDigests(root: URL): Digests {
  const url = new URL(DIGESTS_FILE, root);
  return existsSync(url) ? JSON.parse(readFileSync(url, 'utf8')) : {};
}

/** Returns implementations in version order. Instead of an invalid implementation, returns a text about its breach. */
async function loadFolder(
  root: URL,
  name: string,
  digests: Digests,
): Promise<readonly (DiscoveredCheck | string)[]> {
  const files = name.startsWith('.') ? [] : listImplementations(new URL(`${name}/`, root));
  return Promise.all(
    files.map(async (file) => {
      const result = await loadCheck(root, `${name}/${file}`, digests);
      return typeof result === 'string' ? `checks/${name}/${file}: ${result}` : result;
    }),
  );
}

function throwIfBroken(breaches: readonly string[]): void {
  if (breaches.length === 0) return;
  throw new CheckModuleError(`Correct these checks:\n${breaches.join('\n')}`);
}

/** Lists file names in version order. The list is empty if `folder` is a file. */
function listImplementations(folder: URL): readonly string[] {
  try {
    return readdirSync(folder)
      .filter((entry) => FILE_NAME.test(entry))
      .sort((one, other) => parseVersion(one) - parseVersion(other));
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOTDIR') return [];
    throw error;
  }
}

async function loadCheck(
  root: URL,
  path: string,
  digests: Digests,
): Promise<DiscoveredCheck | string> {
  const [folder = '', file = ''] = path.split('/');
  const [, id, title] = FOLDER_NAME.exec(folder) ?? [];
  if (!id || !title) return 'the folder must be named like "P6-price-integrity"';
  const url = new URL(path, root);
  let loaded: unknown;
  try {
    loaded = (await import(/* @vite-ignore */ url.href)).default;
  } catch (error) {
    return `cannot be loaded: ${error instanceof Error ? error.message : String(error)}`;
  }
  if (!isDefinition(loaded)) return 'the default export must be defineCheck({ … })';
  const version = parseVersion(file);
  const breach = findDefinitionBreach(loaded, id, version);
  if (breach) return breach;
  return {
    id,
    title,
    version,
    impl: `${id}@${version}`,
    url: url.href,
    folder: new URL(`${folder}/`, root).href,
    digest: digests[path] ?? fileDigest(readFileSync(url, 'utf8')),
    definition: loaded,
  };
}

function isDefinition(value: unknown): value is CheckDefinition {
  const { id, version, says, needs, requires, outcomes, evaluate } = readMembers(value);
  return (
    typeof id === 'string' &&
    typeof version === 'number' &&
    typeof evaluate === 'function' &&
    isSentences(says) &&
    [needs, requires, outcomes].every(isTextList)
  );
}

function isSentences(value: unknown): value is Sentences {
  const { right, wrong, unjudged } = readMembers(value);
  return [right, wrong, unjudged].every((sentence) => typeof sentence === 'string');
}

function isTextList(value: unknown): boolean {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}

function findDefinitionBreach(check: CheckDefinition, id: string, version: number): string | null {
  if (check.id !== id) return `id is "${check.id}", the folder says "${id}"`;
  if (check.version !== version) return `version is ${check.version}, the file says ${version}`;
  return null;
}

function findDuplicates(checks: readonly DiscoveredCheck[]): readonly string[] {
  const folders = new Map<string, string>();
  return checks.flatMap(({ id, folder }) => {
    const first = folders.get(id) ?? folder;
    folders.set(id, first);
    return first === folder ? [] : [`${id} has two folders: ${first} and ${folder}`];
  });
}

/** A prerequisite must exist, and no check may require itself, directly or through other checks. */
function findPrerequisiteBreaches(checks: readonly DiscoveredCheck[]): readonly string[] {
  const requires = new Map<string, Set<string>>();
  for (const { id, definition } of checks) {
    requires.set(id, new Set([...(requires.get(id) ?? []), ...definition.requires]));
  }
  return [...requires].flatMap(([id, direct]) => {
    const unknown = [...direct].filter((prerequisite) => !requires.has(prerequisite));
    if (unknown.length > 0) return [`${id} requires ${unknown.join(', ')}: no such check`];
    return hasPath(requires, id, id) ? [`${id} requires itself, directly or through others`] : [];
  });
}

function hasPath(requires: Map<string, Set<string>>, from: string, target: string): boolean {
  const visited = new Set<string>();
  const pending = [...(requires.get(from) ?? [])];
  for (let id = pending.pop(); id !== undefined; id = pending.pop()) {
    if (id === target) return true;
    if (!visited.has(id)) pending.push(...(requires.get(id) ?? []));
    visited.add(id);
  }
  return false;
}

function parseVersion(file: string): number {
  return Number(FILE_NAME.exec(file)?.[1]);
}

/** Returns "sha256:" and 64 hex digits. CRLF counts as LF, because a checkout may convert line ends. */
export function fileDigest(text: string): string {
  const normalised = text.replaceAll('\r\n', '\n');
  return `sha256:${createHash('sha256').update(normalised, 'utf8').digest('hex')}`;
}
