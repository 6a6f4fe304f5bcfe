/**
 * x402scan's tRPC interface is free and undocumented; shapes are from its repository
 * (Merit-Systems/x402scan, apps/scan/src/trpc/routers/public).
 */
import { Ajv } from 'ajv';
import { Type } from 'typebox';
import type { Origin } from '../guard/origin.ts';
import type { IndexedResource } from '../model/observations.ts';
import type { JsonObject, JsonValue } from '../parse/json/json.ts';
import { type Answer, failed, type RequestContext } from './ask.ts';
import { askTrpc, malformed, readList } from './ask-trpc.ts';
import { isSameOrigin, toIso } from './compare.ts';
import { listedTerms } from './listed-terms.ts';

const MAX_ROWS = 10;
const MAX_RESOURCES = 1_000;
const MAX_URL_CHARS = 2_048;
const MAX_ELSEWHERE = 100;

/** The id is null when the index does not know the origin. */
export type IndexRow = {
  readonly id: string | null;
  readonly resources: readonly IndexedResource[];
  readonly elsewhere?: readonly string[];
};

type OriginRow = {
  readonly id?: string;
  readonly origin: string;
  readonly resources: readonly (JsonObject & {
    readonly resource: string;
    readonly method?: string | null;
    readonly lastUpdated?: string | null;
    readonly deprecatedAt?: string | null;
    readonly accepts?: readonly JsonValue[];
  })[];
};

const ajv = new Ajv();
const text = Type.String();
const maybeText = Type.Optional(Type.Union([text, Type.Null()]));
const count = Type.Integer({ minimum: 0 });
const isOriginRows = ajv.compile<readonly OriginRow[]>(
  Type.Array(
    Type.Object({
      id: Type.Optional(text),
      origin: text,
      resources: Type.Array(
        Type.Object({
          resource: text,
          method: maybeText,
          lastUpdated: maybeText,
          deprecatedAt: maybeText,
          accepts: Type.Optional(Type.Array(Type.Unknown())),
        }),
      ),
    }),
  ),
);
/** Number of payment options, and of those whose recipient signed for the origin. */
const isVerification = ajv.compile<{
  readonly verified: number | boolean;
  readonly total?: number;
}>(
  Type.Object({
    verified: Type.Union([count, Type.Boolean()]),
    total: Type.Optional(count),
  }),
);

export async function x402scanOrigin(
  base: string,
  origin: Origin,
  context: RequestContext,
): Promise<Answer<IndexRow>> {
  // A full page may list only other hosts that contain this one, so the longer URL is searched next.
  for (const words of [origin.host, origin.url]) {
    const found = await search(base, words, context);
    if (!found.ok) return found;
    const row = found.value.find((candidate) => isSameOrigin(candidate.origin, origin));
    const elsewhere = resourcesElsewhere(found.value, origin);
    if (row !== undefined) return { ok: true, value: { ...toIndexRow(row), ...elsewhere } };
    if (found.value.length < MAX_ROWS) {
      return { ok: true, value: { id: null, resources: [], ...elsewhere } };
    }
  }
  return failed(`${new URL(base).host} knows too many origins that contain ${origin.url}`);
}

/** Returns true when every recipient in the index has signed for the origin. */
export async function x402scanVerified(
  base: string,
  originId: string,
  context: RequestContext,
): Promise<Answer<boolean>> {
  const procedure = 'public.resources.verificationStatus';
  const status = await askTrpc(base, procedure, { originId }, context);
  if (!status.ok) return status;
  if (!isVerification(status.value)) return malformed(base, procedure);
  const { verified, total } = status.value;
  if (typeof verified === 'boolean') return { ok: true, value: verified };
  return { ok: true, value: verified > 0 && verified === (total ?? verified) };
}

async function search(
  base: string,
  words: string,
  context: RequestContext,
): Promise<Answer<readonly OriginRow[]>> {
  const procedure = 'public.origins.search';
  const found = await askTrpc(base, procedure, { search: words, limit: MAX_ROWS }, context);
  if (!found.ok) return found;
  const rows = readList(found.value);
  return isOriginRows(rows) ? { ok: true, value: rows } : malformed(base, procedure);
}

function toIndexRow({ id, resources }: OriginRow): IndexRow {
  return {
    id: id ?? null,
    resources: resources
      .filter(({ resource }) => resource.length <= MAX_URL_CHARS)
      .slice(0, MAX_RESOURCES)
      .map((resource) => ({
        resource: resource.resource,
        method: resource.method ?? null,
        lastUpdated: toIso(resource.lastUpdated),
        accepts: resource.accepts?.length ?? 0,
        deprecated: typeof resource.deprecatedAt === 'string',
        terms: listedTerms(resource),
      })),
  };
}

/** Search matches substrings: only this host, its parents and children count. */
function resourcesElsewhere(
  rows: readonly OriginRow[],
  origin: Origin,
): Pick<IndexRow, 'elsewhere'> {
  const elsewhere = rows
    .filter((row) => !isSameOrigin(row.origin, origin) && isRelated(row.origin, origin.hostname))
    .flatMap(({ resources }) => resources.map(({ resource }) => resource))
    .filter((resource) => resource.length <= MAX_URL_CHARS)
    .slice(0, MAX_ELSEWHERE);
  return elsewhere.length > 0 ? { elsewhere } : {};
}

function isRelated(candidate: string, hostname: string): boolean {
  if (!URL.canParse(candidate)) return false;
  const other = new URL(candidate).hostname;
  return other === hostname || other.endsWith(`.${hostname}`) || hostname.endsWith(`.${other}`);
}
