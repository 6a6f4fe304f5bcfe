/** x402scan's tRPC interface is free and undocumented. */

import type { Origin } from '../guard/origin.ts';
import type { IndexRow, SettlementFacts } from '../model/third-parties.ts';
import { isSameAddress } from '../parse/x402/namespaces.ts';
import type { AnswerParser } from '../third-parties/answer-reader.ts';
import { askOk, mapAnswer, type RequestContext, type SourceAnswer, toFailure } from './ask.ts';
import { toFacts } from './bazaar.ts';
import { type OriginRow, toIndexParser, type Unread, WINDOW_DAYS } from './index-answers.ts';
import { isSameOrigin } from './listed-terms.ts';

const MAX_ROWS = 10;
const MAX_ELSEWHERE_URLS = 100;
const ORIGINS_PARSER = toIndexParser('readOriginRows');
const SELLERS_PARSER = toIndexParser('readSellerRows');
const VERIFICATION_PARSER = toIndexParser('readVerification');

export async function askX402scanOrigin(
  base: string,
  origin: Origin,
  context: RequestContext,
): Promise<SourceAnswer<IndexRow>> {
  // The names of other hosts may contain this host, and may fill the page. The search for the URL matches fewer hosts.
  for (const search of [origin.host, origin.url]) {
    const input = { search, limit: MAX_ROWS };
    const reply = await askTrpc(base, 'public.origins.search', input, context, ORIGINS_PARSER);
    if (!reply.ok) return reply;
    const row = reply.value.find((candidate) => isSameOrigin(candidate.origin, origin));
    const elsewhere = findElsewhere(reply.value, origin);
    if (row !== undefined || reply.value.length < MAX_ROWS) {
      const { id = null, resources = [] } = row ?? {};
      return { ok: true, value: { id, resources, ...elsewhere } };
    }
  }
  return toFailure(`${new URL(base).host} knows too many origins that contain ${origin.url}`);
}

/** Resolves to true if every recipient in the index has signed for the origin. */
export async function askX402scanVerified(
  base: string,
  originId: string,
  context: RequestContext,
): Promise<SourceAnswer<boolean>> {
  const input = { originId };
  return askTrpc(base, 'public.resources.verificationStatus', input, context, VERIFICATION_PARSER);
}

/** The search matches substrings. Only this hostname, its parent domains and its subdomains count. */
function findElsewhere(rows: readonly OriginRow[], origin: Origin): Pick<IndexRow, 'elsewhere'> {
  const elsewhere = rows
    .filter((row) => !isSameOrigin(row.origin, origin) && isRelated(row.origin, origin.hostname))
    .flatMap(({ resources }) => resources.map(({ resource }) => resource))
    .slice(0, MAX_ELSEWHERE_URLS);
  return elsewhere.length > 0 ? { elsewhere } : {};
}

function isRelated(candidate: string, hostname: string): boolean {
  if (!URL.canParse(candidate)) return false;
  const other = new URL(candidate).hostname;
  return other === hostname || other.endsWith(`.${hostname}`) || hostname.endsWith(`.${other}`);
}

/** Counts the settlements of the index's time window. The index says which settlements belong to the origin. */
export async function askX402scanByOrigin(
  base: string,
  origin: Origin,
  context: RequestContext,
): Promise<SourceAnswer<SettlementFacts>> {
  const input = {
    originUrls: [origin.url],
    timeframe: WINDOW_DAYS,
    sorting: { id: 'tx_count', desc: true },
  };
  const answer = await askTrpc(base, 'public.sellers.bazaar.list', input, context, SELLERS_PARSER);
  return mapAnswer(answer, (rows) => {
    const own = rows.filter(
      ({ origins }) => origins?.some((listedOrigin) => isSameOrigin(listedOrigin, origin)) ?? true,
    );
    // Without rows, the origin may be unknown to the index. The window of 0 days then says that nothing is known.
    return toFacts(own);
  });
}

/** Counts settlements to one address over all of its origins. */
export async function askX402scanByAddress(
  base: string,
  address: string,
  context: RequestContext,
): Promise<SourceAnswer<SettlementFacts>> {
  const input = { recipients: { include: [address] }, timeframe: WINDOW_DAYS };
  const answer = await askTrpc(base, 'public.sellers.all.list', input, context, SELLERS_PARSER);
  return mapAnswer(answer, (rows) => {
    const own = rows.filter(({ recipient = address }) => isSameAddress(recipient, address));
    return { ...toFacts(own, address), windowDays: WINDOW_DAYS };
  });
}

/** Asks a tRPC interface that encodes with superjson: a GET with the input in the query. */
async function askTrpc<Value>(
  base: string,
  procedure: string,
  input: object,
  context: RequestContext,
  parser: AnswerParser<Value | Unread>,
): Promise<SourceAnswer<Value>> {
  const url = toTrpcUrl(base, procedure, input);
  const answer = await askOk(url, { ...context, parser, detail: null });
  if (!answer.ok) return answer;
  const { value } = answer;
  const name = new URL(base).host;
  if (value === undefined) return toFailure(`${name} answered with something that is not JSON`);
  if (value === null) return toFailure(`${name} answered ${procedure} in an unknown shape`);
  return { ok: true, value };
}

export function toTrpcUrl(base: string, procedure: string, input: object): string {
  const encoded = encodeURIComponent(JSON.stringify({ json: input }));
  return `${base}/api/trpc/${procedure}?input=${encoded}`;
}
