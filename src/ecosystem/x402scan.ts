/**
 * x402scan's tRPC interface: free, undocumented; shapes as its repository has them
 * (Merit-Systems/x402scan, apps/scan/src/trpc/routers/public). Everything is checked on arrival.
 */
import { Ajv } from 'ajv';
import { Type } from 'typebox';
import type { Origin } from '../origin/origin.ts';
import type { IndexedOrigin, SettlementFacts } from '../probe/observations.ts';
import { type Answer, askJson, LOOK_TIMEOUT_MS } from './ask-json.ts';
import { WINDOW_DAYS } from './settlement-source.ts';

const CAP_BYTES = 2 * 1024 * 1024;
const MAX_ROWS = 10;

type OriginRow = {
  readonly id: string;
  readonly origin: string;
  readonly resources: readonly {
    readonly resource: string;
    readonly method?: string | null;
    readonly lastUpdated?: string | null;
    readonly deprecatedAt?: string | null;
    readonly accepts?: readonly unknown[];
  }[];
};

type SellerRow = {
  readonly tx_count: number;
  readonly unique_buyers: number;
  readonly latest_block_timestamp?: string | null;
};

const ajv = new Ajv();
const text = Type.String();
const maybeText = Type.Optional(Type.Union([text, Type.Null()]));
const isOriginRows = ajv.compile<readonly OriginRow[]>(
  Type.Array(
    Type.Object({
      id: text,
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
const isSellerPage = ajv.compile<{ readonly items: readonly SellerRow[] }>(
  Type.Object({
    items: Type.Array(
      Type.Object({
        tx_count: Type.Integer({ minimum: 0 }),
        unique_buyers: Type.Integer({ minimum: 0 }),
        latest_block_timestamp: maybeText,
      }),
    ),
  }),
);
const isVerification = ajv.compile<{ readonly verified: boolean }>(
  Type.Object({ verified: Type.Boolean() }),
);

/** What the index holds of this very origin; the search is by substring, so rows are compared. */
export async function x402scanOrigin(base: string, origin: Origin): Promise<Answer<IndexedOrigin>> {
  const found = await ask(base, 'public.origins.search', {
    search: origin.host,
    limit: MAX_ROWS,
  });
  if (!found.ok) return found;
  const rows = listOf(found.value);
  if (!isOriginRows(rows)) return malformed(base, 'public.origins.search');
  const row = rows.find((candidate) => sameOrigin(candidate.origin, origin));
  if (row === undefined) return { ok: true, value: { resources: [], ownershipVerified: null } };
  return {
    ok: true,
    value: {
      resources: row.resources.map((resource) => ({
        resource: resource.resource,
        method: resource.method ?? null,
        lastUpdated: resource.lastUpdated ?? null,
        accepts: resource.accepts?.length ?? 0,
        deprecated: typeof resource.deprecatedAt === 'string',
      })),
      ownershipVerified: await ownershipVerified(base, row.id),
    },
  };
}

/** Settlements that the index attributes to the origin itself. */
export function x402scanSettlementsByOrigin(
  base: string,
  origin: Origin,
): Promise<Answer<SettlementFacts>> {
  return sellers(base, 'public.sellers.bazaar.list', null, {
    originUrls: [origin.url],
    timeframe: WINDOW_DAYS,
    sorting: { id: 'tx_count', desc: true },
  });
}

/** Settlements to one address, whoever sells under it. `include` must never be empty: it means all. */
export function x402scanSettlementsByAddress(
  base: string,
  address: string,
): Promise<Answer<SettlementFacts>> {
  return sellers(base, 'public.sellers.all.list', address, {
    recipients: { include: [address] },
    timeframe: WINDOW_DAYS,
  });
}

async function sellers(
  base: string,
  procedure: string,
  address: string | null,
  input: object,
): Promise<Answer<SettlementFacts>> {
  const found = await ask(base, procedure, input);
  if (!found.ok) return found;
  const page = { items: listOf(found.value) };
  if (!isSellerPage(page)) return malformed(base, procedure);
  const latest = page.items
    .map((row) => toIso(row.latest_block_timestamp))
    .filter((at) => at !== null)
    .sort()
    .at(-1);
  return {
    ok: true,
    value: {
      address,
      windowDays: WINDOW_DAYS,
      settlements: page.items.reduce((sum, row) => sum + row.tx_count, 0),
      // Buyers of several rows may be the same ones: the greatest row is what is certain.
      payers: Math.max(0, ...page.items.map((row) => row.unique_buyers)),
      lastAt: latest ?? null,
    },
  };
}

async function ownershipVerified(base: string, originId: string): Promise<boolean | null> {
  const status = await ask(base, 'public.resources.verificationStatus', { originId });
  return status.ok && isVerification(status.value) ? status.value.verified : null;
}

async function ask(base: string, procedure: string, input: object): Promise<Answer<unknown>> {
  const query = encodeURIComponent(JSON.stringify({ json: input }));
  const answer = await askJson(`${base}/api/trpc/${procedure}?input=${query}`, {
    timeoutMs: LOOK_TIMEOUT_MS,
    capBytes: CAP_BYTES,
  });
  if (!answer.ok) return answer;
  const json = memberAt(answer.value, ['result', 'data', 'json']);
  return json === undefined ? malformed(base, procedure) : { ok: true, value: json };
}

/** Some procedures answer with a list, some with a page that holds one. */
function listOf(value: unknown): unknown {
  return Array.isArray(value) ? value : memberAt(value, ['items']);
}

function memberAt(value: unknown, path: readonly string[]): unknown {
  let current = value;
  for (const name of path) {
    if (typeof current !== 'object' || current === null) return undefined;
    current = Reflect.get(current, name);
  }
  return current;
}

function sameOrigin(candidate: string, origin: Origin): boolean {
  return URL.canParse(candidate) && new URL(candidate).origin === origin.url;
}

function toIso(value: string | null | undefined): string | null {
  const at = Date.parse(value ?? '');
  return Number.isNaN(at) ? null : new Date(at).toISOString();
}

function malformed(base: string, procedure: string): { ok: false; detail: string } {
  return { ok: false, detail: `${new URL(base).host} answered ${procedure} in an unknown shape` };
}
