import type { JsonObject } from '../model/json.ts';

export const STATEMENT_TYPE = 'https://in-toto.io/Statement/v1';
/** The path of the predicate type, under the address of a site. */
export const PREDICATE_PATH = '/attestations/scan/v1';

/** An in-toto Statement v1 about one scan. */
export type ScanStatement = {
  readonly _type: typeof STATEMENT_TYPE;
  readonly subject: readonly [
    {
      /** The scanned origin. */
      readonly name: string;
      /** Digest of the canonical `observations` of the scan's recording. */
      readonly digest: { readonly sha256: string };
    },
  ];
  readonly predicateType: string;
  readonly predicate: {
    /** The body of `GET /v1/report`. */
    readonly report: JsonObject;
    readonly catalog: {
      readonly checksVersion: string;
      /** "sha256:" and 64 hex digits: of the catalog's file, as `catalog/published.json` has it. */
      readonly digest: string;
    };
    readonly scanner: { readonly name: string; readonly version: string };
    readonly disclaimer: string;
  };
};

export function toStatement(
  subject: { readonly origin: string; readonly observationsSha256: string },
  siteUrl: string,
  predicate: ScanStatement['predicate'],
): ScanStatement {
  return {
    _type: STATEMENT_TYPE,
    subject: [{ name: subject.origin, digest: { sha256: subject.observationsSha256 } }],
    predicateType: `${siteUrl}${PREDICATE_PATH}`,
    predicate,
  };
}

/** The site that a predicate type names as its own; null for a predicate type of another kind. */
export function parsePredicateSite(predicateType: string): string | null {
  if (!predicateType.endsWith(PREDICATE_PATH)) return null;
  const site = predicateType.slice(0, -PREDICATE_PATH.length);
  return /^https?:\/\/[^/?#]+$/.test(site) ? site : null;
}
