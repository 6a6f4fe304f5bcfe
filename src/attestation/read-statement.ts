import { Ajv } from 'ajv';
import { type Static, Type } from 'typebox';
import type { JsonValue } from '../model/json.ts';
import { parsePredicateSite, STATEMENT_TYPE } from './statement.ts';

const statementSchema = Type.Object({
  _type: Type.Literal(STATEMENT_TYPE),
  subject: Type.Array(
    Type.Object({ name: Type.String(), digest: Type.Object({ sha256: Type.String() }) }),
    {
      minItems: 1,
      maxItems: 1,
    },
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

/** A statement about a scan, as somebody else wrote it. */
export type SignedReport = Static<typeof statementSchema>['predicate'] & {
  /** The origin that the subject names; tools of in-toto match statements by it. */
  readonly subject: string;
  readonly observationsSha256: string;
  /** The site that the predicate type names. */
  readonly site: string;
};

/** Null for bytes that are no statement about a scan. */
export function readStatement(payload: Buffer): SignedReport | null {
  let value: unknown;
  try {
    value = JSON.parse(payload.toString());
  } catch {
    return null;
  }
  if (!new Ajv().compile<Static<typeof statementSchema>>(statementSchema)(value)) return null;
  const site = parsePredicateSite(value.predicateType);
  const [subject] = value.subject;
  if (site === null || subject === undefined) return null;
  const { name, digest } = subject;
  return { ...value.predicate, subject: name, observationsSha256: digest.sha256, site };
}
