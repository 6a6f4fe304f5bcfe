import type { HttpData } from '../../model/observation.ts';
import { isJsonObject, type JsonObject, parseJson } from '../json/json.ts';
import { headerValue } from '../text/http-header.ts';

const EVENT_STREAM = /^text\/event-stream\b/i;
const LINE_END = /\r\n|\r|\n/;

/** Finds the JSON-RPC response to this id in a JSON body or an event stream; null when there is none. */
export function rpcResponse(answer: HttpData, id: number): JsonObject | null {
  if (!EVENT_STREAM.test(headerValue(answer, 'content-type') ?? '')) {
    return responseIn(answer.body, id);
  }
  for (const data of eventsOf(answer.body)) {
    const response = responseIn(data, id);
    if (response !== null) return response;
  }
  return null;
}

function responseIn(text: string, id: number): JsonObject | null {
  const read = parseJson(text);
  if (!read.ok || !isJsonObject(read.value)) return null;
  // Servers omit the id when they refuse a request before parsing it.
  const isAnswer = read.value['id'] === id || (read.value['id'] ?? null) === null;
  const { result, error } = read.value;
  return isAnswer && (isJsonObject(result) || isJsonObject(error)) ? read.value : null;
}

/** Yields the data of server-sent events (HTML standard, 9.2.6), an unfinished last one included. */
function* eventsOf(body: string): Generator<string> {
  let data: string[] = [];
  for (const line of body.split(LINE_END)) {
    if (line.startsWith('data:')) data.push(line.slice('data:'.length).replace(/^ /, ''));
    if (line !== '' || data.length === 0) continue;
    yield data.join('\n');
    data = [];
  }
  if (data.length > 0) yield data.join('\n');
}
