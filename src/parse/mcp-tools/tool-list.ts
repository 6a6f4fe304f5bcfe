import { type JsonObject, jsonList, jsonObject, jsonText } from '../json/json.ts';
import { type PaidTerms, paidTerms } from './paid-tool.ts';
import { sampleArguments } from './sample-arguments.ts';

export type PaidTool = {
  readonly name: string;
  readonly price: PaidTerms['price'];
  readonly arguments: JsonObject;
};

export type ToolPage = {
  /** Paid tools that are annotated as read-only and may be called. */
  readonly callable: readonly PaidTool[];
  /** Number of paid tools that are not annotated as read-only. */
  readonly uncalled: number;
  readonly listed: number;
  readonly nextCursor: string | null;
};

const MAX_TOOLS = 2_000;
const MAX_NAME_CHARS = 128;
const MAX_CURSOR_CHARS = 1_024;

export function readToolPage(result: JsonObject): ToolPage {
  const tools = jsonList(result['tools']).slice(0, MAX_TOOLS).map(jsonObject);
  const paid = tools.flatMap((tool) => {
    const { isPaid, price } = paidTerms(tool);
    const name = jsonText(tool['name']);
    if (!isPaid || name === null || name.length > MAX_NAME_CHARS) return [];
    const isReadOnly = jsonObject(tool['annotations'])['readOnlyHint'] === true;
    return [{ name, price, isReadOnly, schema: tool['inputSchema'] }];
  });
  const readOnly = paid.filter(({ isReadOnly }) => isReadOnly);
  const cursor = jsonText(result['nextCursor']);
  return {
    callable: readOnly.map(({ name, price, schema }) => {
      return { name, price, arguments: sampleArguments(schema) };
    }),
    uncalled: paid.length - readOnly.length,
    listed: tools.length,
    nextCursor: cursor !== null && cursor.length <= MAX_CURSOR_CHARS ? cursor : null,
  };
}
