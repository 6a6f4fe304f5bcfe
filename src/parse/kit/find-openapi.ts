import type { HttpData } from '../../model/observation.ts';
import type { HttpObservation, PathAnswer } from '../../model/observations.ts';
import type { JsonReading } from '../json/json.ts';
import type { OpenApiFacts } from '../openapi/openapi.ts';
import type { DocumentReader, DocumentReading } from './read-document.ts';

/** The OpenAPI document that S2 to S4, P6 and the probe plan read, with its path. */
export type OpenApiReading =
  | {
      readonly state: 'found';
      readonly path: string;
      readonly canonical: boolean;
      readonly answer: HttpData;
      readonly facts: OpenApiFacts;
    }
  /** Only YAML was found, which is not parsed. */
  | { readonly state: 'yaml'; readonly path: string }
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

type Present = Extract<DocumentReading, { state: 'present' }>;
type OpenApiDocument = Extract<OpenApiReading, { state: 'found' }>;

const CANONICAL = '/openapi.json';
const YAML_CHARS = 65_536;
const YAML_MEMBER = /^(?:openapi|swagger):[ \t]*\S/m;

/**
 * Prefers a usable document (3.x with paths), the canonical path first; then the first JSON that claims
 * to be OpenAPI; then YAML, which is not parsed.
 */
export function findOpenApi(
  { openapi, openapiAlternates, soft404 }: OpenApiSources,
  parsers: OpenApiParsers,
): OpenApiReading {
  const places = [{ path: CANONICAL, answer: openapi }, ...openapiAlternates];
  const readings = places.map(({ path, answer }) => parsers.document(path, answer, soft404));
  const present = readings.filter((reading) => reading.state === 'present');
  const claims = present.map((reading) => claimed(reading, parsers)).filter((one) => one !== null);
  const claim = claims.find(isUsable) ?? claims[0];
  if (claim !== undefined) return claim;
  const yaml = present.find(({ body }) => YAML_MEMBER.test(body.slice(0, YAML_CHARS)));
  if (yaml !== undefined) return { state: 'yaml', path: yaml.path };
  const evidence = readings.map((reading) => toEvidence(reading, parsers));
  return { state: 'none', evidence: evidence.join('; ') };
}

function claimed(reading: Present, { json, facts }: OpenApiParsers): OpenApiDocument | null {
  if (!json(reading.body).ok) return null;
  const read = facts(reading.body, reading.answer.url);
  if (read.version === null && !read.swagger && read.paths === 0) return null;
  const { path, answer } = reading;
  return { state: 'found', path, canonical: path === CANONICAL, answer, facts: read };
}

function isUsable({ facts }: OpenApiDocument): boolean {
  return facts.version?.startsWith('3.') === true && facts.paths > 0;
}

function toEvidence(reading: DocumentReading, { json }: OpenApiParsers): string {
  if (reading.state !== 'present') return reading.evidence;
  const parsed = json(reading.body);
  return `GET ${reading.path}: 200, ${parsed.ok ? 'JSON, but no OpenAPI' : parsed.detail}`;
}
