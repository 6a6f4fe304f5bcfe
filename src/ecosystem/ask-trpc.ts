/** Asks a tRPC interface that speaks superjson: a GET with the answer in `result.data.json`. */
import {
  type Answer,
  askJson,
  type Failure,
  failed,
  INDEX_ANSWER_BYTES,
  type RequestContext,
} from './ask.ts';

export async function askTrpc(
  base: string,
  procedure: string,
  input: object,
  context: RequestContext,
): Promise<Answer<unknown>> {
  const encoded = encodeURIComponent(JSON.stringify({ json: input }));
  const url = `${base}/api/trpc/${procedure}?input=${encoded}`;
  const answer = await askJson(url, { ...context, capBytes: INDEX_ANSWER_BYTES });
  if (!answer.ok) return answer;
  const json = memberAt(answer.value, ['result', 'data', 'json']);
  return json === undefined ? malformed(base, procedure) : { ok: true, value: json };
}

/** Some procedures answer with a list, some with a page that has one in `items`. */
export function readList(value: unknown): unknown {
  return Array.isArray(value) ? value : memberAt(value, ['items']);
}

export function malformed(base: string, procedure: string): Failure {
  return failed(`${new URL(base).host} answered ${procedure} in an unknown shape`);
}

function memberAt(value: unknown, path: readonly string[]): unknown {
  let current = value;
  for (const name of path) {
    if (typeof current !== 'object' || current === null) return undefined;
    current = Reflect.get(current, name);
  }
  return current;
}
