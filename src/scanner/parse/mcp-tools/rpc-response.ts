import type { HttpData } from '../../model/observation.ts';
import { isJsonObject, type JsonObject, parseJson } from '../json/json.ts';
import { headerValue } from '../text/http-header.ts';

const EVENT_STREAM_TYPE = /^text\/event-stream\b/i;
const LINE_END = /\r\n|\r|\n/;

/** Finds the JSON-RPC response with this id in a JSON body or an event stream; null if there is no such response. */
export function findRpcResponse(answer: HttpData, id: number): JsonObject | null {
  const isStream = EVENT_STREAM_TYPE.test(headerValue(answer, 'content-type') ?? '');
  for (const text of isStream ? readEvents(answer.body) : [answer.body]) {
    const response = parseRpcResponse(text, id);
    if (response !== null) return response;
  }
  return null;
}

function parseRpcResponse(text: string, id: number): JsonObject | null {
  const parsed = parseJson(text);
  if (!parsed.ok || !isJsonObject(parsed.value)) return null;
  const message = parsed.value;
  // Servers omit the id if they refuse a request before they parse it.
  const hasExpectedId = message['id'] === id || (message['id'] ?? null) === null;
  const isResponse = isJsonObject(message['result']) || isJsonObject(message['error']);
  return hasExpectedId && isResponse ? message : null;
}

/** Yields the data of each server-sent event (HTML standard, 9.2.6). The last event may be unfinished. */
function* readEvents(body: string): Generator<string> {
  let data: string[] = [];
  for (const line of body.split(LINE_END)) {
    if (line.startsWith('data:')) data.push(line.slice('data:'.length).replace(/^ /, ''));
    if (line !== '' || data.length === 0) continue;
    yield data.join('\n');
    data = [];
  }
  if (data.length > 0) yield data.join('\n');
}
