/** Asks a tRPC interface that speaks superjson: a GET with the input in the query. */
import type { Reading } from '../answers/answer-reader.ts';
import { type Answer, askOk, failed, type RequestContext } from './ask.ts';
import {
  readMerchantPage,
  readOriginRows,
  readPartners,
  readSellerRows,
  readVerification,
  type Unread,
} from './index-answers.ts';

const MODULE = new URL('./index-answers.ts', import.meta.url).href;
const READINGS = {
  readMerchantPage,
  readOriginRows,
  readPartners,
  readSellerRows,
  readVerification,
} as const;

/** A reading of `index-answers.ts`. */
export function indexReading<Name extends keyof typeof READINGS>(exportName: Name) {
  return { module: MODULE, exportName, read: READINGS[exportName] };
}

export async function askTrpc<Value>(
  base: string,
  procedure: string,
  input: object,
  {
    context,
    reading,
  }: { readonly context: RequestContext; readonly reading: Reading<Value | Unread> },
): Promise<Answer<Value>> {
  const encoded = encodeURIComponent(JSON.stringify({ json: input }));
  const url = `${base}/api/trpc/${procedure}?input=${encoded}`;
  const answer = await askOk(url, { ...context, reading, detail: null });
  if (!answer.ok) return answer;
  const { value } = answer;
  const name = new URL(base).host;
  if (value === undefined) return failed(`${name} answered with something that is not JSON`);
  if (value === null) return failed(`${name} answered ${procedure} in an unknown shape`);
  return { ok: true, value };
}
