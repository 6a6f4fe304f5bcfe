/** Reads the protocol's public listing of partners. It takes no new partners since 2026-05-14. */
import { type Answer, askOk, failed, type RequestContext } from './ask.ts';
import { indexReading } from './ask-trpc.ts';
import type { Partner } from './index-answers.ts';

const LISTING_PATH = '/ecosystem';

export async function askPartners(
  base: string,
  context: RequestContext,
): Promise<Answer<readonly Partner[]>> {
  const url = new URL(base).pathname === '/' ? new URL(LISTING_PATH, base).href : base;
  const reading = indexReading('readPartners');
  const page = await askOk(url, { ...context, reading, detail: null });
  // A listing without partners means that the page's format changed.
  return page.ok && page.value.length === 0
    ? failed(`${new URL(base).host} shows no partner records`)
    : page;
}
