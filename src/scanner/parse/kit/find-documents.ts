import type { HttpData } from '../../model/observation.ts';
import type { Observations, OpenApiAnswer, YamlReading } from '../../model/observations.ts';
import type { JsonReading } from '../json/json.ts';
import type { OpenApiFacts } from '../openapi/openapi.ts';
import { findExceededLimit } from '../text/document-limits.ts';
import type { ManifestFacts } from '../x402/manifest.ts';
import { type DocumentReader, type DocumentReading, describeUnusable } from './read-document.ts';

/** The OpenAPI document of an origin. The checks S2 to S4 and P6 and the probe plan read it. */
export type OpenApiReading =
  | {
      readonly state: 'found';
      readonly path: string;
      readonly canonical: boolean;
      readonly isYaml: boolean;
      readonly answer: HttpData;
      readonly facts: OpenApiFacts;
    }
  /** A document may be there, but it exceeds our limits, or its answer was a 429. */
  | {
      readonly state: 'unread';
      readonly why: 'over-limit' | 'rate-limited';
      readonly evidence: string;
    }
  | { readonly state: 'none'; readonly evidence: string };

export type OpenApiSources = Pick<Observations, 'openapi' | 'openapiAlternates' | 'soft404'>;

type DocumentParsers<Facts> = {
  readonly document: DocumentReader;
  readonly json: (body: string) => JsonReading;
  readonly parseFacts: (body: string, documentUrl: string) => Facts;
};

type OpenApiDocument = Extract<OpenApiReading, { state: 'found' }>;
type Candidate = { readonly reading: DocumentReading; readonly yaml: YamlReading | undefined };

const OPENAPI_PATH = '/openapi.json';
const MISSING_STATES: ReadonlySet<string> = new Set(['absent', 'soft-404', 'html']);

/**
 * Returns the first usable document (3.x with paths). If there is none, returns the first document that looks like
 * OpenAPI, or else why a document could not be read. The canonical path comes first.
 */
export function findOpenApi(
  { openapi, openapiAlternates, soft404 }: OpenApiSources,
  parsers: DocumentParsers<OpenApiFacts>,
): OpenApiReading {
  const answers: readonly OpenApiAnswer[] = [
    { path: OPENAPI_PATH, answer: openapi },
    ...openapiAlternates,
  ];
  const candidates = answers.map(
    ({ path, answer, yaml }): Candidate => ({
      reading: parsers.document(path, answer, soft404),
      yaml,
    }),
  );
  const documents = candidates
    .map((candidate) => parseOpenApiDocument(candidate, parsers))
    .filter((document) => document !== null);
  const best = documents.find(isUsable) ?? documents[0];
  if (best !== undefined) return best;
  // If the canonical path has a faulty document, its fault is reported, whatever could not be read at other paths.
  const isMissing = MISSING_STATES.has(candidates[0]?.reading.state ?? '');
  const unread = (isMissing ? candidates : candidates.slice(0, 1))
    .map((candidate) => findUnreadReason(candidate, parsers))
    .find((reason) => reason !== null);
  if (unread !== undefined) return { state: 'unread', ...unread };
  const evidence = candidates.map(({ reading, yaml }) =>
    reading.state === 'present' && yaml !== undefined && 'fault' in yaml
      ? `GET ${reading.path}: 200, ${yaml.fault}`
      : describeUnusable(reading, parsers.json, 'JSON, but no OpenAPI'),
  );
  return { state: 'none', evidence: evidence.join('; ') };
}

/** Returns null for a document without any member of OpenAPI. */
function parseOpenApiDocument(
  { reading, yaml }: Candidate,
  { json, parseFacts }: DocumentParsers<OpenApiFacts>,
): OpenApiDocument | null {
  if (reading.state !== 'present') return null;
  const { path, answer, body } = reading;
  const isYaml = !json(body).ok;
  const text = isYaml && yaml !== undefined && 'json' in yaml ? yaml.json : body;
  if (!json(text).ok) return null;
  const facts = parseFacts(text, answer.url);
  const { version, swagger, pathCount } = facts;
  if (version === null && !swagger && pathCount === 0) return null;
  const canonical = path === OPENAPI_PATH;
  return { state: 'found', path, canonical, isYaml, answer, facts };
}

function isUsable({ facts }: OpenApiDocument): boolean {
  return facts.version?.startsWith('3.') === true && facts.pathCount > 0;
}

function findUnreadReason({ reading, yaml }: Candidate, { json }: DocumentParsers<OpenApiFacts>) {
  if (reading.state === 'over-limit' || reading.state === 'rate-limited') {
    return { why: reading.state, evidence: reading.evidence };
  }
  if (reading.state !== 'present') return null;
  const limit = findExceededLimit(json(reading.body), yaml);
  if (limit === null) return null;
  const evidence = `GET ${reading.path}: 200, but ${limit}, our limit`;
  return { why: 'over-limit' as const, evidence };
}

export type ManifestReading =
  | {
      readonly state: 'found';
      readonly path: string;
      readonly canonical: boolean;
      readonly facts: ManifestFacts;
    }
  | { readonly state: 'none'; readonly evidence: string };

export type ManifestSources = Pick<Observations, 'manifest' | 'manifestJson' | 'soft404'>;

type ManifestDocument = Extract<ManifestReading, { state: 'found' }>;

const MANIFEST_PATH = '/.well-known/x402';
const OTHER_MANIFEST_PATH = '/.well-known/x402.json';

/**
 * Returns the first manifest of a known shape. If there is none, returns the first JSON document. The canonical path
 * comes before the alternate path.
 */
export function findManifest(
  { manifest, manifestJson, soft404 }: ManifestSources,
  parsers: DocumentParsers<ManifestFacts>,
): ManifestReading {
  const readings = [
    parsers.document(MANIFEST_PATH, manifest, soft404),
    parsers.document(OTHER_MANIFEST_PATH, manifestJson, soft404),
  ];
  const documents = readings
    .map((reading) => parseManifestDocument(reading, parsers))
    .filter((document) => document !== null);
  const best = documents.find(({ facts }) => facts.shape !== 'unknown') ?? documents[0];
  if (best !== undefined) return best;
  const evidence = readings.map((reading) => describeUnusable(reading, parsers.json, 'JSON'));
  return { state: 'none', evidence: evidence.join('; ') };
}

function parseManifestDocument(
  reading: DocumentReading,
  { json, parseFacts }: DocumentParsers<ManifestFacts>,
): ManifestDocument | null {
  if (reading.state !== 'present' || !json(reading.body).ok) return null;
  const { path, answer, body } = reading;
  const canonical = path === MANIFEST_PATH;
  return { state: 'found', path, canonical, facts: parseFacts(body, answer.url) };
}
