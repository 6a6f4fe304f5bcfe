import { Ajv } from 'ajv';
import { type Static, Type } from 'typebox';
import { type JsonObject, type JsonValue, tryParseJson } from '../model/json.ts';

const STATEMENT_TYPE = 'https://in-toto.io/Statement/v1';
/** A predicate type is the address of a site, followed by this path. */
export const PREDICATE_PATH = '/attestations/scan/v1';

type ScanPredicate = {
  /** The body of `GET /v1/report`. */
  readonly report: JsonObject;
  readonly catalog: {
    readonly checksVersion: string;
    /** Digest of the catalog's file: "sha256:" and 64 hex digits. `catalog/published.json` lists the digests. */
    readonly digest: string;
  };
  readonly scanner: { readonly name: string; readonly version: string };
  readonly disclaimer: string;
};

export type ScanStatement = ReturnType<typeof toStatement>;

/**
 * Makes an in-toto Statement v1 about one scan. Its subject is the origin, with the digest of the canonical
 * `observations` of the scan's recording.
 */
export function toStatement(
  subject: { readonly origin: string; readonly observationsSha256: string },
  siteUrl: string,
  predicate: ScanPredicate,
) {
  return {
    _type: STATEMENT_TYPE,
    subject: [{ name: subject.origin, digest: { sha256: subject.observationsSha256 } }],
    predicateType: `${siteUrl}${PREDICATE_PATH}`,
    predicate,
  };
}

const statementSchema = Type.Object({
  _type: Type.Literal(STATEMENT_TYPE),
  subject: Type.Array(
    Type.Object({ name: Type.String(), digest: Type.Object({ sha256: Type.String() }) }),
    { minItems: 1, maxItems: 1 },
  ),
  predicateType: Type.String(),
  predicate: Type.Object({
    report: Type.Object({
      origin: Type.String(),
      grade: Type.String(),
      score: Type.Number(),
      checksVersion: Type.String(),
      scannedAt: Type.String(),
      results: Type.Unsafe<readonly JsonValue[]>({ type: 'array' }),
    }),
    catalog: Type.Object({ checksVersion: Type.String(), digest: Type.String() }),
  }),
});

/** The content of a statement about a scan. A stranger may have written it. */
export type SignedReport = Static<typeof statementSchema>['predicate'] & {
  /** The origin that the statement's subject names. in-toto tools find statements by subject. */
  readonly subject: string;
  readonly observationsSha256: string;
  /** The address of the scanner's site, from the predicate type. */
  readonly site: string;
};

/** Returns null for bytes that are not a statement about a scan. */
export function readStatement(payload: Buffer): SignedReport | null {
  const value = tryParseJson(payload.toString());
  if (!new Ajv().compile<Static<typeof statementSchema>>(statementSchema)(value)) return null;
  const site = parsePredicateSite(value.predicateType);
  const [subject] = value.subject;
  if (site === null || subject === undefined) return null;
  const { name, digest } = subject;
  return { ...value.predicate, subject: name, observationsSha256: digest.sha256, site };
}

/** Returns the site in the predicate type of a scan; null for any other predicate type. */
function parsePredicateSite(predicateType: string): string | null {
  if (!predicateType.endsWith(PREDICATE_PATH)) return null;
  const site = predicateType.slice(0, -PREDICATE_PATH.length);
  return /^https?:\/\/[^/?#]+$/.test(site) ? site : null;
}
