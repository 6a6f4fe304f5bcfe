/** A seller of a case: a table of answers, served on a real socket. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import type { JsonValue } from '../../src/scanner/model/json.ts';
import { type Seller, serve } from '../fixtures/sellers/seller.ts';

/** Encodes as base64: a text, a value as JSON, or "$body" for this row's body. */
type Base64Header = { readonly $b64: JsonValue };

export type Row = {
  /** Default 200. */
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string | Base64Header>>;
  /** Text as it is, anything else as JSON. */
  readonly body?: JsonValue;
  readonly bodyBase64?: string;
  /** True: the connection is closed without an answer. */
  readonly destroy?: boolean;
};

/**
 * By "GET /a?b=1", "GET /a", "* /a", "GET *" or "*", the first of these that there is; HEAD takes the row of GET. A
 * list answers one request each, its last row all later ones. Other requests get 404.
 */
export type Rows = Readonly<Record<string, Row | readonly Row[]>>;

export type FieldSeller = Seller & {
  /** "GET /openapi.json", in the order of arrival. */
  readonly seen: readonly string[];
};

const NOT_FOUND: Row = { status: 404, body: { error: 'not found' } };

export async function startFieldSeller(rows: Rows): Promise<FieldSeller> {
  const seen: string[] = [];
  const counts = new Map<string, number>();
  const seller = await serve(async (request, response) => {
    await text(request);
    const { method = '', url = '' } = request;
    seen.push(`${method} ${url}`);
    const key = findKey(rows, method, url);
    const count = counts.get(key) ?? 0;
    counts.set(key, count + 1);
    const found = [rows[key] ?? NOT_FOUND].flat();
    answer(found[Math.min(count, found.length - 1)] ?? NOT_FOUND, request, response);
  });
  return { ...seller, seen };
}

function findKey(rows: Rows, method: string, url: string): string {
  const [path = ''] = url.split('?');
  const get = method === 'HEAD' ? [`GET ${path}`] : [];
  const keys = [`${method} ${url}`, `${method} ${path}`, ...get, `* ${path}`, `${method} *`, '*'];
  return keys.find((key) => rows[key] !== undefined) ?? '';
}

function answer(row: Row, request: IncomingMessage, response: ServerResponse): void {
  if (row.destroy) {
    request.socket.destroy();
    return;
  }
  const { status = 200, headers = {}, body, bodyBase64 } = row;
  const origin = `http://${request.headers.host}`;
  response.statusCode = status;
  if (typeof body === 'object' && body !== null) {
    response.setHeader('content-type', 'application/json');
  }
  for (const [name, value] of Object.entries(headers)) {
    response.setHeader(name, toHeaderText(fillIn(value, origin), fillIn(body ?? '', origin)));
  }
  const content =
    bodyBase64 === undefined
      ? toBodyText(fillIn(body ?? '', origin))
      : Buffer.from(bodyBase64, 'base64');
  response.end(request.method === 'HEAD' ? undefined : content);
}

function toHeaderText(value: JsonValue, body: JsonValue): string {
  if (typeof value !== 'object' || value === null || !('$b64' in value)) return String(value);
  const encoded = value['$b64'] === '$body' ? body : (value['$b64'] ?? null);
  return Buffer.from(toBodyText(encoded)).toString('base64');
}

function toBodyText(value: JsonValue): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** Writes the seller's address for {{origin}}, {{host}} and {{port}} in each text and name of a value. */
export function fillIn<Value extends JsonValue>(value: Value, origin: string): Value {
  const { host, port } = new URL(origin);
  const filled = JSON.stringify(value)
    .replaceAll('{{origin}}', origin)
    .replaceAll('{{host}}', host)
    .replaceAll('{{port}}', port);
  const parsed: Value = JSON.parse(filled);
  return parsed;
}
