/** One bounded question to a third party: time, size and one retry; failures are values. */
import { setTimeout as delay } from 'node:timers/promises';
import { type Dispatcher, request } from 'undici';

export type Answer<T> =
  | { readonly ok: true; readonly value: T }
  /** One line for evidence: who, and what went wrong. */
  | { readonly ok: false; readonly detail: string };

export type AskOptions = {
  /** All of it, a retry included. */
  readonly timeoutMs: number;
  readonly capBytes: number;
};

/** A scan waits at most this long for anybody else. */
export const LOOK_TIMEOUT_MS = 3_000;
const BUSY: ReadonlySet<number> = new Set([429, 503]);
const DEFAULT_RETRY_SEC = 1;

/** The body as text; never rejects. */
export async function askText(
  url: string,
  { timeoutMs, capBytes }: AskOptions,
): Promise<Answer<string>> {
  const deadline = performance.now() + timeoutMs;
  const signal = AbortSignal.timeout(timeoutMs);
  const name = new URL(url).host;
  try {
    let response = await get(url, signal);
    const waitMs = retryAfterMs(response);
    if (BUSY.has(response.statusCode) && performance.now() + waitMs < deadline) {
      await response.body.dump();
      await delay(waitMs, undefined, { signal });
      response = await get(url, signal);
    }
    if (response.statusCode !== 200) {
      await response.body.dump();
      return { ok: false, detail: `${name} answered ${response.statusCode}` };
    }
    return await readCapped(response.body, capBytes, name);
  } catch (error) {
    if (signal.aborted) return { ok: false, detail: `${name} did not answer in ${timeoutMs} ms` };
    return { ok: false, detail: `${name} could not be asked (${codeOf(error)})` };
  }
}

/** As `askText`, parsed; the shape is the caller's to check. */
export async function askJson(url: string, options: AskOptions): Promise<Answer<unknown>> {
  const text = await askText(url, options);
  if (!text.ok) return text;
  try {
    return { ok: true, value: JSON.parse(text.value) };
  } catch {
    return { ok: false, detail: `${new URL(url).host} answered with something that is not JSON` };
  }
}

function get(url: string, signal: AbortSignal): Promise<Dispatcher.ResponseData> {
  return request(url, {
    method: 'GET',
    signal,
    headers: { accept: 'application/json, text/html;q=0.5', 'accept-encoding': 'identity' },
  });
}

async function readCapped(
  body: Dispatcher.ResponseData['body'],
  capBytes: number,
  name: string,
): Promise<Answer<string>> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body) {
    const bytes = Buffer.from(chunk);
    size += bytes.length;
    if (size > capBytes) {
      body.destroy();
      return { ok: false, detail: `${name} answered with more than ${capBytes} bytes` };
    }
    chunks.push(bytes);
  }
  return { ok: true, value: Buffer.concat(chunks).toString('utf8') };
}

/** Seconds, or a date: RFC 9110 section 10.2.3. */
function retryAfterMs({ headers }: Dispatcher.ResponseData): number {
  const value = headers['retry-after'];
  const text = typeof value === 'string' ? value : '';
  if (/^\d{1,6}$/.test(text)) return Number(text) * 1_000;
  const at = Date.parse(text);
  return Number.isNaN(at) ? DEFAULT_RETRY_SEC * 1_000 : Math.max(0, at - Date.now());
}

function codeOf(error: unknown): string {
  if (error instanceof Error && 'code' in error) return String(error.code);
  return error instanceof Error ? error.name : 'unknown error';
}
