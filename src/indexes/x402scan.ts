/** x402scan's tRPC interface is free and undocumented. */
import type { AnswerParser } from '../answers/answer-reader.ts';
import type { Origin } from '../guard/origin.ts';
import type { IndexRow, SettlementFacts } from '../model/third-parties.ts';
import { isSameAddress } from '../parse/x402/namespaces.ts';
import {
  askOk,
  failed,
  type IndexAnswer,
  type RequestContext,
  toIndexParser,
  WINDOW_DAYS,
} from './ask.ts';
import { toFacts } from './bazaar.ts';
import type { OriginRow, Unread } from './index-answers.ts';
import { isSameOrigin } from './listed-terms.ts';

const MAX_ROWS = 10;
const MAX_ELSEWHERE = 100;
const ORIGINS = toIndexParser('readOriginRows');
const SELLERS = toIndexParser('readSellerRows');
const VERIFICATION = toIndexParser('readVerification');

export async function x402scanOrigin(
  base: string,
  origin: Origin,
  context: RequestContext,
): Promise<IndexAnswer<IndexRow>> {
  // A full page may list only other hosts that contain this one, so the longer URL is searched next.
  for (const words of [origin.host, origin.url]) {
    const input = { search: words, limit: MAX_ROWS };
    const reply = await askTrpc(base, 'public.origins.search', input, context, ORIGINS);
    if (!reply.ok) return reply;
    const row = reply.value.find((candidate) => isSameOrigin(candidate.origin, origin));
    const elsewhere = resourcesElsewhere(reply.value, origin);
    if (row !== undefined) {
      const { id, resources } = row;
      return { ok: true, value: { id, resources, ...elsewhere } };
    }
    if (reply.value.length < MAX_ROWS) {
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
): Promise<IndexAnswer<boolean>> {
  const input = { originId };
  return askTrpc(base, 'public.resources.verificationStatus', input, context, VERIFICATION);
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

/** Counts settlements in the window that the index attributes to the origin. */
export async function x402scanSettlementsByOrigin(
  base: string,
  origin: Origin,
  context: RequestContext,
): Promise<IndexAnswer<SettlementFacts>> {
  const input = {
    originUrls: [origin.url],
    timeframe: WINDOW_DAYS,
    sorting: { id: 'tx_count', desc: true },
  };
  const rows = await askTrpc(base, 'public.sellers.bazaar.list', input, context, SELLERS);
  if (!rows.ok) return rows;
  const own = rows.value.filter(
    ({ origins }) => origins === undefined || origins.some((one) => isSameOrigin(one, origin)),
  );
  // A missing row may mean no settlement or an unknown origin, so it proves nothing.
  return { ok: true, value: toFacts(null, own) };
}

/** Counts settlements to one address over all of its origins. An empty `include` would select all rows. */
export async function x402scanSettlementsByAddress(
  base: string,
  address: string,
  context: RequestContext,
): Promise<IndexAnswer<SettlementFacts>> {
  const input = { recipients: { include: [address] }, timeframe: WINDOW_DAYS };
  const rows = await askTrpc(base, 'public.sellers.all.list', input, context, SELLERS);
  if (!rows.ok) return rows;
  const own = rows.value.filter(
    ({ recipient }) => recipient === undefined || isSameAddress(recipient, address),
  );
  return { ok: true, value: { ...toFacts(address, own), windowDays: WINDOW_DAYS } };
}

/** Asks a tRPC interface that speaks superjson: a GET with the input in the query. */
async function askTrpc<Value>(
  base: string,
  procedure: string,
  input: object,
  context: RequestContext,
  parser: AnswerParser<Value | Unread>,
): Promise<IndexAnswer<Value>> {
  const url = trpcUrl(base, procedure, input);
  const answer = await askOk(url, { ...context, parser, detail: null });
  if (!answer.ok) return answer;
  const { value } = answer;
  const name = new URL(base).host;
  if (value === undefined) return failed(`${name} answered with something that is not JSON`);
  if (value === null) return failed(`${name} answered ${procedure} in an unknown shape`);
  return { ok: true, value };
}

export function trpcUrl(base: string, procedure: string, input: object): string {
  const encoded = encodeURIComponent(JSON.stringify({ json: input }));
  return `${base}/api/trpc/${procedure}?input=${encoded}`;
}
