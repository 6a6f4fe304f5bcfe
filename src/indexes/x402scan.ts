/** x402scan's tRPC interface is free and undocumented. */
import type { Origin } from '../guard/origin.ts';
import type { IndexedResource } from '../model/observations.ts';
import { type Answer, failed, type RequestContext } from './ask.ts';
import { askTrpc, indexReading } from './ask-trpc.ts';
import { isSameOrigin } from './compare.ts';
import type { OriginRow } from './index-answers.ts';

const MAX_ROWS = 10;
const MAX_ELSEWHERE = 100;

/** The id is null when the index does not know the origin. */
export type IndexRow = {
  readonly id: string | null;
  readonly resources: readonly IndexedResource[];
  readonly elsewhere?: readonly string[];
};

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
    if (row !== undefined) {
      const { id, resources } = row;
      return { ok: true, value: { id, resources, ...elsewhere } };
    }
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
  const reading = indexReading('readVerification');
  const input = { originId };
  return askTrpc(base, 'public.resources.verificationStatus', input, { context, reading });
}

async function search(
  base: string,
  words: string,
  context: RequestContext,
): Promise<Answer<readonly OriginRow[]>> {
  const reading = indexReading('readOriginRows');
  const input = { search: words, limit: MAX_ROWS };
  return askTrpc(base, 'public.origins.search', input, { context, reading });
}

/** Search matches substrings: only this host, its parents and children count. */
function resourcesElsewhere(
  rows: readonly OriginRow[],
  origin: Origin,
): Pick<IndexRow, 'elsewhere'> {
  const elsewhere = rows
    .filter((row) => !isSameOrigin(row.origin, origin) && isRelated(row.origin, origin.hostname))
    .flatMap(({ resources }) => resources.map(({ resource }) => resource))
    .slice(0, MAX_ELSEWHERE);
  return elsewhere.length > 0 ? { elsewhere } : {};
}

function isRelated(candidate: string, hostname: string): boolean {
  if (!URL.canParse(candidate)) return false;
  const other = new URL(candidate).hostname;
  return other === hostname || other.endsWith(`.${hostname}`) || hostname.endsWith(`.${other}`);
}
