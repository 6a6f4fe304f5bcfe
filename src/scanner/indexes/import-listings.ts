/**
 * Reads whole indexes. The Bazaar rounds a limit to tens, and rounds an offset down to a multiple of the limit:
 * https://docs.cdp.coinbase.com/api-reference/v2/rest-api/x402-facilitator/browse-the-catalog. x402scan's procedure:
 * Merit-Systems/x402scan, apps/scan/src/trpc/routers/public/resources.ts, at e85e6727698393a639c4b5069e24641b1fdef22e.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { request } from 'undici';
import type { OriginPolicy } from '../guard/origin.ts';
import { askOk, type RequestContext, type SourceAnswer, startDeadline, toFailure } from './ask.ts';
import { toApiBase } from './bazaar.ts';
import { type ImportSource, LISTING_PAGE_PARSER, type ListingPage } from './listing-page.ts';
import { toTrpcUrl } from './x402scan.ts';

export type ImportOptions = Pick<RequestContext, 'userAgent' | 'answers'> & {
  readonly base: string;
  readonly policy: OriginPolicy;
  /** Resolves after `ms`. Tests replace it. */
  readonly wait?: (ms: number) => Promise<unknown>;
  /** Called when a request has ended. */
  readonly onRequest?: (result: ReturnType<typeof toRequestResult>) => void;
  readonly signal?: AbortSignal;
};

const MAX_PAGE_BYTES = 16 * 1024 * 1024;
const MAX_PAGE_MS = 30_000;
const MAX_PAGES = 100;
const MAX_WAITS = 3;
const MAX_WAIT_MS = 120_000;
/** Rows of x402scan are larger, because they contain schemas. */
const ROWS_PER_PAGE = { bazaar: 1_000, x402scan: 500 };

/**
 * Calls `onPage` for each page in order, one request at a time, and rejects only if `onPage` does. `detail` says why the
 * import ended before the last page. If the index changes during the import, some rows may occur twice.
 */
export async function importListings(
  source: ImportSource,
  options: ImportOptions,
  onPage: (page: Pick<ListingPage, 'listings' | 'refusedCount'>) => Promise<void> | void,
): Promise<{
  readonly isComplete: boolean;
  readonly pageCount: number;
  readonly detail: string | null;
}> {
  const { base, signal } = options;
  // An aborted wait resolves. The next `askPage` then says that the import was stopped.
  const { wait = (ms) => delay(ms, undefined, { signal }).catch(() => null) } = options;
  const name = new URL(base).host;
  let [limit, offset, pageCount, waitCount] = [ROWS_PER_PAGE[source], 0, 0, 0];
  const end = (detail: string | null) => ({ isComplete: detail === null, pageCount, detail });
  while (pageCount < MAX_PAGES) {
    // Both indexes start pages at multiples of the limit.
    const start = offset - (offset % limit);
    const answer = await askPage(source, options, limit, start);
    options.onRequest?.(toRequestResult(answer));
    if (answer.ok) {
      const { rowCount, indexRowCount } = answer.value;
      await onPage(answer.value);
      pageCount += 1;
      const next = start + rowCount;
      const isLast = indexRowCount === null ? rowCount < limit : next >= indexRowCount;
      if (isLast) return end(null);
      if (next <= offset) return end(`${name} sent no new rows before its last row`);
      // If a page has fewer rows than requested, the index has a lower limit.
      [offset, limit] = [next, Math.min(limit, rowCount)];
    } else if (answer.isBusy && waitCount < MAX_WAITS) {
      waitCount += 1;
      await wait(Math.min(answer.pauseMs, MAX_WAIT_MS));
    } else if (answer.isTooLong && limit > 1) {
      // A quarter, in tens, because the Bazaar rounds a limit to tens.
      limit = Math.max(1, Math.floor(limit / 40) * 10);
    } else return end(answer.detail);
  }
  return end(`${name} has more than ${MAX_PAGES} pages`);
}

async function askPage(
  source: ImportSource,
  { base, policy, userAgent, answers, signal }: ImportOptions,
  limit: number,
  start: number,
): Promise<SourceAnswer<ListingPage>> {
  const url =
    source === 'bazaar'
      ? `${toApiBase(base)}/discovery/resources?limit=${limit}&offset=${start}`
      : toTrpcUrl(base, 'public.resources.list.paginated', {
          pagination: { page: start / limit, page_size: limit },
          // Newest first: an update during the import may repeat a row, but cannot hide one.
          sorting: { id: 'lastUpdated', desc: true },
        });
  const deadline = startDeadline(MAX_PAGE_MS, signal);
  // `importListings` itself waits for a busy index. With `findReasonNotToAsk`, `ask` repeats no request.
  const context = { deadline, userAgent, answers, findReasonNotToAsk: () => null };
  const { allowedPorts } = policy;
  const detail = { source, limit, allowedPorts, allowHosts: [...policy.allowHosts] };
  const page = { parser: LISTING_PAGE_PARSER, detail, capBytes: MAX_PAGE_BYTES };
  const answer = await askOk(url, { ...context, ...page });
  if (signal?.aborted) return toFailure('the import was stopped');
  if (!answer.ok) return answer;
  if (answer.value !== null) return { ok: true, value: answer.value };
  return toFailure(`${new URL(base).host} answered in an unknown shape`);
}

const REACHABLE_WITHIN_MS = 5_000;

/** True if any of these URLs gives an answer, whatever its status. Redirects are not followed. */
export async function isAnyReachable(urls: readonly string[], userAgent: string): Promise<boolean> {
  const answers = urls.map(async (url) => {
    const signal = AbortSignal.timeout(REACHABLE_WITHIN_MS);
    const { body } = await request(url, { signal, headers: { 'user-agent': userAgent } });
    body.destroy();
  });
  return Promise.any(answers).then(
    () => true,
    () => false,
  );
}

function toRequestResult(answer: SourceAnswer<unknown>): 'read' | 'busy' | 'too_large' | 'failed' {
  if (answer.ok) return 'read';
  if (answer.isBusy) return 'busy';
  return answer.isTooLong ? 'too_large' : 'failed';
}
