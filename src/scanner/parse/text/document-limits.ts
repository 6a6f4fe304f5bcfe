/** Limits of the documents that a scan reads, by their paths. */
import type { YamlReading } from '../../model/observations.ts';
import type { JsonReading } from '../json/json.ts';

const KIB = 1_024;
const MIB = 1_024 * KIB;

/** Bytes that are read of a document, by its path. */
const BODY_LIMITS: Readonly<Record<string, number>> = {
  '/openapi.json': 8 * MIB,
  '/.well-known/openapi.json': 8 * MIB,
  '/api/openapi.json': 8 * MIB,
  '/swagger.json': 8 * MIB,
  '/openapi.yaml': 512 * KIB,
  '/openapi.yml': 512 * KIB,
  '/.well-known/x402': MIB,
  '/.well-known/x402.json': MIB,
  '/llms.txt': 512 * KIB,
  '/robots.txt': 512 * KIB,
};
/** The limit at any other path, and of an answer at a document's path that cannot be the document. */
export const OTHER_BODY_LIMIT = 256 * KIB;
/** A scan reads only one body that is longer than this. It cuts further long bodies at this length. */
export const LARGE_BODY_BYTES = MIB;
/** The start of these texts can be judged without the rest. */
const TEXT_PATHS: ReadonlySet<string> = new Set(['/llms.txt', '/robots.txt']);
const OPENAPI_PATH = '/openapi.json';
const YAML_PATH = /\.ya?ml$/;

export function findBodyLimit(path: string): number {
  return BODY_LIMITS[path] ?? OTHER_BODY_LIMIT;
}

/** Formats the limit for evidence: "longer than the 512 KiB that this scanner reads". */
export function describeBodyLimit(path: string): string {
  const bytes = findBodyLimit(path);
  const limit = bytes >= MIB ? `${bytes / MIB} MiB` : `${bytes / KIB} KiB`;
  // The canonical path is asked first, so it is never the second long document.
  return bytes > LARGE_BODY_BYTES && path !== OPENAPI_PATH
    ? `longer than this scanner reads: ${limit}, or 1 MiB after another long document`
    : `longer than the ${limit} that this scanner reads`;
}

export function isJsonPath(path: string): boolean {
  return !isReadInPart(path) && !isYamlPath(path);
}

/** True if no further text could make this JSON. Blanks may still become JSON. */
export function cannotBecomeJson(beginning: string): boolean {
  return /^[\s\uFEFF]*[^\s\uFEFF{["]/.test(beginning);
}

/** True if a text may go on as a JSON object, list or text; false for blanks. */
export function beginsLikeJson(beginning: string): boolean {
  return /^[\s\uFEFF]*[{["]/.test(beginning);
}

/** Drops the last line of a text that was cut, because the line may be incomplete. */
export function keepWholeLines(text: string): string {
  return text.slice(0, text.lastIndexOf('\n') + 1);
}

/** True for a text that is judged by its start if it is too long. */
export function isReadInPart(path: string): boolean {
  return TEXT_PATHS.has(path);
}

export function isYamlPath(path: string): boolean {
  return YAML_PATH.test(path);
}

/** Names the limit of ours that a document exceeds; null if it exceeds none. */
export function findExceededLimit(json: JsonReading, yaml: YamlReading | undefined): string | null {
  if (json.ok) return null;
  if (yaml !== undefined) return 'fault' in yaml && yaml.isOverLimit ? yaml.fault : null;
  return json.isOverLimit ? json.detail : null;
}
