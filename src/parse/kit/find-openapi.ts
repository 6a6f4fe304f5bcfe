import type { HttpData } from '../../model/observation.ts';
import type { HttpObservation, PathAnswer } from '../../model/observations.ts';
import type { JsonReading } from '../json/json.ts';
import type { OpenApiFacts } from '../openapi/openapi.ts';
import { type DocumentReader, type DocumentReading, describeUnusable } from './read-document.ts';

/** The OpenAPI document of an origin. The checks S2 to S4 and P6 and the probe plan read it. */
export type OpenApiReading =
  | {
      readonly state: 'found';
      readonly path: string;
      readonly canonical: boolean;
      readonly answer: HttpData;
      readonly facts: OpenApiFacts;
    }
  /** Only a YAML document was found. We do not parse YAML. */
  | { readonly state: 'yaml'; readonly path: string }
  /** A document may be there, but it exceeds our limits, or its answer was a 429. */
  | {
      readonly state: 'unread';
      readonly why: 'over-limit' | 'rate-limited';
      readonly evidence: string;
    }
  | { readonly state: 'none'; readonly evidence: string };

export type OpenApiSources = {
  readonly openapi: HttpObservation;
  readonly openapiAlternates: readonly PathAnswer[];
  readonly soft404: HttpObservation;
};

export type OpenApiParsers = {
  readonly document: DocumentReader;
  readonly json: (body: string) => JsonReading;
  readonly facts: (body: string, documentUrl: string) => OpenApiFacts;
};

type PresentDocument = Extract<DocumentReading, { state: 'present' }>;
type OpenApiDocument = Extract<OpenApiReading, { state: 'found' }>;

const CANONICAL_PATH = '/openapi.json';
const MAX_YAML_CHARS = 65_536;
const YAML_MEMBER = /^(?:openapi|swagger):[ \t]*\S/m;

/**
 * Returns the first usable document (3.x with paths). If there is none, returns the first JSON that looks like
 * OpenAPI, or else the path of a YAML document. The canonical path comes first.
 */
export function findOpenApi(
  { openapi, openapiAlternates, soft404 }: OpenApiSources,
  parsers: OpenApiParsers,
): OpenApiReading {
  const candidates = [{ path: CANONICAL_PATH, answer: openapi }, ...openapiAlternates];
  const readings = candidates.map(({ path, answer }) => parsers.document(path, answer, soft404));
  const present = readings.filter((reading) => reading.state === 'present');
  const documents = present
    .map((reading) => parseDocument(reading, parsers))
    .filter((document) => document !== null);
  const best = documents.find(isUsable) ?? documents[0];
  if (best !== undefined) return best;
  const yaml = present.find(({ body }) => YAML_MEMBER.test(body.slice(0, MAX_YAML_CHARS)));
  if (yaml !== undefined) return { state: 'yaml', path: yaml.path };
  const unread = readings.map((reading) => findUnreadReason(reading, parsers)).find(isFound);
  if (unread !== undefined) return { state: 'unread', ...unread };
  const evidence = readings.map((reading) =>
    describeUnusable(reading, parsers.json, 'JSON, but no OpenAPI'),
  );
  return { state: 'none', evidence: evidence.join('; ') };
}

/** Returns null for JSON without any member of OpenAPI. */
function parseDocument(
  reading: PresentDocument,
  { json, facts }: OpenApiParsers,
): OpenApiDocument | null {
  if (!json(reading.body).ok) return null;
  const documentFacts = facts(reading.body, reading.answer.url);
  const { version, swagger, paths } = documentFacts;
  if (version === null && !swagger && paths === 0) return null;
  const { path, answer } = reading;
  return { state: 'found', path, canonical: path === CANONICAL_PATH, answer, facts: documentFacts };
}

function isUsable({ facts }: OpenApiDocument): boolean {
  return facts.version?.startsWith('3.') === true && facts.paths > 0;
}

function isFound<T>(value: T | null): value is T {
  return value !== null;
}

function findUnreadReason(reading: DocumentReading, { json }: OpenApiParsers) {
  if (reading.state === 'over-limit' || reading.state === 'rate-limited') {
    return { why: reading.state, evidence: reading.evidence };
  }
  if (reading.state !== 'present') return null;
  const parsed = json(reading.body);
  if (parsed.ok || !parsed.isOverLimit) return null;
  const evidence = `GET ${reading.path}: 200, but ${parsed.detail}, our limit`;
  return { why: 'over-limit' as const, evidence };
}
