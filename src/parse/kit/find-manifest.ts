import type { HttpObservation } from '../../model/observations.ts';
import type { JsonReading } from '../json/json.ts';
import type { ManifestFacts } from '../x402/manifest.ts';
import { type DocumentReader, type DocumentReading, describeUnusable } from './read-document.ts';

export type ManifestReading =
  | {
      readonly state: 'found';
      readonly path: string;
      readonly canonical: boolean;
      readonly facts: ManifestFacts;
    }
  | { readonly state: 'none'; readonly evidence: string };

export type ManifestSources = {
  readonly manifest: HttpObservation;
  readonly manifestJson: HttpObservation;
  readonly soft404: HttpObservation;
};

export type ManifestParsers = {
  readonly document: DocumentReader;
  readonly json: (body: string) => JsonReading;
  readonly facts: (body: string) => ManifestFacts;
};

type ManifestDocument = Extract<ManifestReading, { state: 'found' }>;

const CANONICAL_PATH = '/.well-known/x402';
const ALTERNATE_PATH = '/.well-known/x402.json';

/**
 * Returns the first manifest of a known shape. If there is none, returns the first JSON document. The canonical path
 * comes before the alternate path.
 */
export function findManifest(
  { manifest, manifestJson, soft404 }: ManifestSources,
  parsers: ManifestParsers,
): ManifestReading {
  const readings = [
    parsers.document(CANONICAL_PATH, manifest, soft404),
    parsers.document(ALTERNATE_PATH, manifestJson, soft404),
  ];
  const documents = readings
    .map((reading) => parseDocument(reading, parsers))
    .filter((document) => document !== null);
  const best = documents.find(({ facts }) => facts.shape !== 'unknown') ?? documents[0];
  if (best !== undefined) return best;
  const evidence = readings.map((reading) => describeUnusable(reading, parsers.json, 'JSON'));
  return { state: 'none', evidence: evidence.join('; ') };
}

function parseDocument(
  reading: DocumentReading,
  { json, facts }: ManifestParsers,
): ManifestDocument | null {
  if (reading.state !== 'present' || !json(reading.body).ok) return null;
  const { path, body } = reading;
  return { state: 'found', path, canonical: path === CANONICAL_PATH, facts: facts(body) };
}
