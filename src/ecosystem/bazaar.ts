/**
 * The Bazaar of the CDP facilitator: public, no key. `GET …/discovery/merchant?payTo=` lists the
 * resources that pay an address, each with `quality` counts of the last 30 days.
 * https://docs.cdp.coinbase.com/x402/buyer/discover-services
 */
import { Ajv } from 'ajv';
import { Type } from 'typebox';
import type { SettlementFacts } from '../probe/observations.ts';
import { type Answer, askJson, LOOK_TIMEOUT_MS } from './ask-json.ts';
import { WINDOW_DAYS } from './settlement-source.ts';

const CAP_BYTES = 2 * 1024 * 1024;
const API_PATH = '/platform/v2/x402';

type Item = {
  readonly quality?: {
    readonly l30DaysTotalCalls?: number | null;
    readonly l30DaysUniquePayers?: number | null;
    readonly lastCalledAt?: string | null;
  } | null;
};

const maybeCount = Type.Optional(Type.Union([Type.Integer({ minimum: 0 }), Type.Null()]));
const itemsSchema = Type.Array(
  Type.Object({
    quality: Type.Optional(
      Type.Union([
        Type.Object({
          l30DaysTotalCalls: maybeCount,
          l30DaysUniquePayers: maybeCount,
          lastCalledAt: Type.Optional(Type.Union([Type.String(), Type.Null()])),
        }),
        Type.Null(),
      ]),
    ),
  }),
);
const isItems = new Ajv().compile<readonly Item[]>(itemsSchema);

export async function bazaarSettlements(
  base: string,
  address: string,
): Promise<Answer<SettlementFacts>> {
  const url = `${apiBase(base)}/discovery/merchant?payTo=${encodeURIComponent(address)}`;
  const answer = await askJson(url, { timeoutMs: LOOK_TIMEOUT_MS, capBytes: CAP_BYTES });
  if (!answer.ok) return answer;
  const items = itemsOf(answer.value);
  if (!isItems(items)) {
    return { ok: false, detail: `${new URL(base).host} answered in an unknown shape` };
  }
  const counts = items.map(({ quality }) => quality?.l30DaysTotalCalls ?? 0);
  const payers = items.map(({ quality }) => quality?.l30DaysUniquePayers ?? 0);
  const calls = items
    .map(({ quality }) => Date.parse(quality?.lastCalledAt ?? ''))
    .filter((at) => !Number.isNaN(at));
  return {
    ok: true,
    value: {
      address,
      windowDays: WINDOW_DAYS,
      settlements: counts.reduce((sum, count) => sum + count, 0),
      // Payers of several resources may be the same ones: the greatest count is what is certain.
      payers: Math.max(0, ...payers),
      lastAt: calls.length === 0 ? null : new Date(Math.max(...calls)).toISOString(),
    },
  };
}

/** The setting names a host, or the interface itself. */
function apiBase(base: string): string {
  return new URL(base).pathname === '/' ? new URL(API_PATH, base).href : base;
}

function itemsOf(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return undefined;
  return Reflect.get(value, 'resources') ?? Reflect.get(value, 'items');
}
