import { readdirSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { readMembers } from '../../model/json.ts';
import type { ProbingOptions } from '../../model/observations.ts';
import { messageOf, OperatorError } from '../../model/redact.ts';
import type { CategoryKey, CheckResult } from '../../model/report.ts';
import { EngineFault } from '../../workers/job.ts';
import type { CheckDefinition } from '../define-check.ts';
import type { ScoringName } from '../score.ts';
import { type DiscoveredCheck, discoverCheck, fileDigest } from './discover-checks.ts';

/** A catalog is invalid. The message names the file and the mistake. */
export class CatalogError extends OperatorError {
  override readonly name = 'CatalogError';
}

export type CatalogCategory = {
  readonly key: CategoryKey;
  readonly label: string;
  readonly count: number;
  readonly description: string;
};

export type CatalogCheck = Pick<CheckResult, 'id' | 'title' | 'severity' | 'category'> & {
  /** "P6@2": version 2 of P6 runs. */
  readonly impl: string;
  /** Digest of the implementation's file. */
  readonly digest: string;
};

export type Catalog = {
  /** "2026-08-14.2" */
  readonly checksVersion: string;
  /** "scoring@1" */
  readonly scoring: ScoringName;
  readonly probing: ProbingOptions;
  readonly categories: readonly CatalogCategory[];
  readonly checks: readonly CatalogCheck[];
};

/** The folder of the catalogs, ending in a slash. */
export const CATALOG_FOLDER = new URL('../../../../catalog/', import.meta.url);

/** Interface spec 2.4: every report has this many results. */
export const TOTAL_CHECKS = 25;

const CATALOG_FILE_NAME = /^(\d{4}-\d{2}-\d{2})\.([1-9]\d*)\.json$/;

/** Lists every catalog version, newest last. */
export async function listCatalogs(folder = CATALOG_FOLDER): Promise<readonly string[]> {
  // The read is synchronous, because the folder is small, and awaiting the read would delay the start.
  return readdirSync(folder)
    .flatMap((name) => {
      const [, date, number] = CATALOG_FILE_NAME.exec(name) ?? [];
      const version = `${date}.${number}`;
      return date && number ? [{ version, ms: Date.parse(date), number: Number(number) }] : [];
    })
    .sort((one, other) => one.ms - other.ms || one.number - other.number)
    .map(({ version }) => version);
}

/** Loads a catalog and compares all digests. Throws CatalogError, which names the file and every breach. */
export async function loadCatalog(
  version: string,
  {
    folder = CATALOG_FOLDER,
    checks,
  }: { readonly folder?: URL; readonly checks: readonly DiscoveredCheck[] },
): Promise<Catalog> {
  const { catalog, isChanged } = await readCatalog(version, folder);
  const breaches = [
    ...(isChanged ? ['it is published and was changed'] : []),
    ...catalog.checks.flatMap((entry) => findDigestBreaches(entry, checks)),
  ];
  refuseBreaches(version, breaches);
  return catalog;
}

function refuseBreaches(version: string, breaches: readonly string[]): void {
  if (breaches.length === 0) return;
  throw new CatalogError(`catalog/${version}.json is refused: ${breaches.join('; ')}.`);
}

export type CatalogFile = {
  readonly catalog: Catalog;
  readonly digest: string;
  /** True if the version is published and this text differs from the published text. */
  readonly isChanged: boolean;
};

/**
 * Reads a catalog and checks only its schema, for tools that repair other breaches. A published text was
 * checked at publication. It is not checked again, because the schema library is slow to load. Throws
 * CatalogError.
 */
export async function readCatalog(version: string, folder = CATALOG_FOLDER): Promise<CatalogFile> {
  const versions = await listCatalogs(folder);
  if (!versions.includes(version)) {
    throw new CatalogError(`Catalog ${version} does not exist. There are: ${versions.join(', ')}.`);
  }
  const text = readFileSync(new URL(`${version}.json`, folder), 'utf8');
  const digest = fileDigest(text);
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch (error) {
    throw new CatalogError(`catalog/${version}.json is not JSON: ${messageOf(error)}`);
  }
  const pinnedDigest = (await readPublished(folder)).catalogs[version];
  if (pinnedDigest !== digest) await validateSchema(parsed, version, folder);
  // Other members are dropped, such as `$schema`, which is for editors.
  const { checksVersion, scoring, probing, categories, checks } = parsed as Catalog;
  const catalog = { checksVersion, scoring, probing, categories, checks };
  return { catalog, digest, isChanged: pinnedDigest !== undefined && pinnedDigest !== digest };
}

/** Finds the reasons why a catalog cannot run the check of this entry. */
export function findDigestBreaches(
  { impl, digest }: CatalogCheck,
  checks: readonly DiscoveredCheck[],
): readonly string[] {
  const check = checks.find((each) => each.impl === impl);
  if (!check) return [`${impl} is not in checks/`];
  if (check.digest === digest) return [];
  return [`the file of ${impl} has another digest than the catalog states`];
}

/** Validates with the schema file in `folder`. Throws CatalogError with every breach. */
async function validateSchema(value: unknown, version: string, folder: URL): Promise<void> {
  const { Ajv2020 } = await import('ajv/dist/2020.js');
  const schema: object = JSON.parse(readFileSync(new URL('schema.json', folder), 'utf8'));
  const validate = new Ajv2020({ allErrors: true }).compile(schema);
  if (validate(value)) return;
  const errors = (validate.errors ?? []).map((error) => `${error.instancePath} ${error.message}`);
  throw new CatalogError(`catalog/${version}.json breaks its schema: ${errors.join('; ')}.`);
}

/** Digests of the published catalogs by checksVersion. A catalog pins the digests of its checks. */
export type Published = { readonly catalogs: Readonly<Record<string, string>> };

const DIGEST_FORMAT = /^sha256:[0-9a-f]{64}$/;

/** Throws CatalogError when published.json is missing or malformed. */
export async function readPublished(folder: URL): Promise<Published> {
  let parsed: unknown;
  try {
    parsed = JSON.parse(readFileSync(new URL('published.json', folder), 'utf8'));
  } catch (error) {
    throw new CatalogError(`catalog/published.json cannot be read: ${messageOf(error)}`);
  }
  if (isPublished(parsed)) return parsed;
  throw new CatalogError('catalog/published.json must be {"catalogs": {version: digest}}.');
}

function isPublished(value: unknown): value is Published {
  const { catalogs } = readMembers(value);
  if (typeof catalogs !== 'object' || catalogs === null) return false;
  return Object.values(catalogs).every(
    (digest) => typeof digest === 'string' && DIGEST_FORMAT.test(digest),
  );
}

export type ExplanationSection = {
  /** "Why", "Rule", "Fix", "Source", "History" */
  readonly heading: string;
  /** Markdown, without its heading. */
  readonly text: string;
};

/** A check's catalog entry and definition, and the sections of its README, in order. */
export type Explanation = Omit<CatalogCheck, 'digest'> &
  Pick<CheckDefinition, 'says' | 'needs' | 'requires' | 'outcomes'> & {
    readonly sections: readonly ExplanationSection[];
  };

/** Throws EngineFault when the catalog does not run the check, or the check's folder has no README. */
export async function explainCheck(
  id: string,
  catalog: Pick<Catalog, 'checks' | 'checksVersion'>,
  checks: readonly DiscoveredCheck[],
): Promise<Explanation> {
  const entry = catalog.checks.find((check) => check.id === id);
  if (!entry) throw new EngineFault(`Catalog ${catalog.checksVersion} has no check ${id}.`);
  const { title, severity, category, impl } = entry;
  const check = checks.find((loaded) => loaded.impl === impl);
  if (!check) throw new EngineFault(`${impl} is not loaded.`);
  const { says, needs, requires, outcomes } = check.definition;
  const readme = new URL('README.md', check.folder);
  const markdown = await readFile(readme, 'utf8').catch((error: unknown) => {
    throw new EngineFault(`${readme.pathname} cannot be read: ${String(error)}`);
  });
  const sections = readSections(markdown);
  return { id, title, severity, category, impl, says, needs, requires, outcomes, sections };
}

/**
 * Explains a check and loads no other check. Throws EngineFault as `explainCheck` does, and CatalogError if
 * the catalog pins another digest for the check's file.
 */
export async function explainOneCheck(id: string, catalog: Catalog): Promise<Explanation> {
  const checks = await discoverCheck(id);
  const breaches = catalog.checks
    .filter((entry) => entry.id === id)
    .flatMap((entry) => findDigestBreaches(entry, checks));
  refuseBreaches(catalog.checksVersion, breaches);
  return explainCheck(id, catalog, checks);
}

/** Splits at second-level headings; text before the first heading is dropped. */
export function readSections(markdown: string): readonly ExplanationSection[] {
  const sections: { heading: string; lines: string[] }[] = [];
  let isFenced = false;
  for (const line of markdown.split(/\r?\n/)) {
    // A fenced example may contain "## " lines that are not headings.
    if (line.startsWith('```')) isFenced = !isFenced;
    if (!isFenced && line.startsWith('## ')) sections.push({ heading: line.slice(3), lines: [] });
    else sections.at(-1)?.lines.push(line);
  }
  return sections.map(({ heading, lines }) => {
    return { heading: heading.trim(), text: lines.join('\n').trim() };
  });
}
