/**
 * An answer on the wire becomes an observation: plain data that can be stored and replayed. Its body is
 * decoded: at most one content encoding, up to a limit, then the character set.
 */

import { isUtf8 } from 'node:buffer';
import type { Transform } from 'node:stream';
import {
  constants,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createInflateRaw,
} from 'node:zlib';
import type { RequestFailure } from '../../guard/failures.ts';
import type {
  AnswerObservation,
  Hop,
  HttpData,
  HttpMethod,
  Observation,
} from '../../model/observation.ts';
import { deserializeFrozen, MIN_SHARED_CHARS, shareBytes } from '../../parse/json/transfer.ts';
import { GrowingBuffer, releasePages } from './growing-buffer.ts';
import type { ExchangeAnswer } from './response-collector.ts';

export type DecodedBody = {
  /** A long text that is UTF-8 already stays as it is, in shared memory. */
  readonly text: string | SharedArrayBuffer;
  /** The decoded text was cut at the cap, or its encoding broke off. */
  readonly isCut: boolean;
  readonly isBinary: boolean;
};

/**
 * The text of a body. Undoes at most one layer of compression, and of that no more than `capBytes`:
 * `identity` was asked for, so a second layer is a trap. Text is UTF-8 unless a byte
 * order mark or the charset of Content-Type says otherwise; bytes that are not valid text become
 * U+FFFD. A body with a NUL byte is not text.
 */
export async function decodeBody(answer: ExchangeAnswer, capBytes: number): Promise<DecodedBody> {
  const layers = listOf(answer, 'content-encoding').filter((layer) => layer !== 'identity');
  const [layer] = layers;
  let bytes = answer.body;
  let isCut = false;
  if (layer !== undefined && bytes.length > 0) {
    const decoder = layers.length === 1 ? decoderFor(layer, bytes) : null;
    if (!decoder) return { text: '', isCut: false, isBinary: true };
    ({ bytes, isCut } = await inflate(decoder, bytes, capBytes));
  }
  const charset = charsetOf(answer, bytes);
  const isBinary = !charset.startsWith('utf-16') && bytes.includes(0);
  const text = isBinary ? '' : toText(bytes, charset);
  releasePages(bytes);
  return { text, isCut, isBinary };
}

function toText(bytes: Buffer, charset: string): DecodedBody['text'] {
  if (charset !== 'utf-8' || bytes.length < MIN_SHARED_CHARS || !isUtf8(bytes)) {
    return new TextDecoder(charset).decode(bytes);
  }
  const hasMark = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
  return shareBytes(hasMark ? bytes.subarray(3) : bytes);
}

async function inflate(decoder: Transform, input: Buffer, capBytes: number) {
  const inflated = new GrowingBuffer(capBytes);
  decoder.end(input);
  try {
    for await (const chunk of decoder) {
      // Leaving the loop destroys the decoder, which stops a bomb.
      if (!inflated.append(chunk)) return { bytes: inflated.contents(), isCut: true };
    }
  } catch {
    return { bytes: inflated.contents(), isCut: true };
  }
  return { bytes: inflated.contents(), isCut: false };
}

function decoderFor(layer: string, bytes: Buffer): Transform | null {
  const flush = { finishFlush: constants.Z_SYNC_FLUSH };
  if (layer === 'gzip' || layer === 'x-gzip') return createGunzip(flush);
  if (layer === 'br') {
    return createBrotliDecompress({ finishFlush: constants.BROTLI_OPERATION_FLUSH });
  }
  if (layer !== 'deflate') return null;
  // RFC 9110 means zlib, but some servers send raw deflate; zlib begins with method 8.
  return ((bytes[0] ?? 0) & 0x0f) === 8 ? createInflate(flush) : createInflateRaw(flush);
}

function charsetOf(answer: ExchangeAnswer, bytes: Buffer): string {
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return 'utf-16be';
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le';
  const contentType = answer.headers.find(([name]) => name === 'content-type')?.[1] ?? '';
  const label = /;[ \t]*charset="?([a-z0-9_:.+-]{1,40})/i.exec(contentType)?.[1] ?? 'utf-8';
  try {
    return new TextDecoder(label).encoding;
  } catch {
    return 'utf-8';
  }
}

function listOf(answer: ExchangeAnswer, wanted: string): string[] {
  return answer.headers
    .filter(([name]) => name === wanted)
    .flatMap(([, value]) => value.toLowerCase().split(','))
    .map((item) => item.trim())
    .filter((item) => item !== '');
}

export type AnswerContext = {
  readonly url: URL;
  readonly method: HttpMethod;
  readonly capBytes: number;
  readonly redirects: readonly Hop[];
  readonly ms: number;
};

/** The observation that an answer makes: plain data, frozen, the body as text. */
export async function observeAnswer(
  answer: ExchangeAnswer,
  context: AnswerContext,
): Promise<AnswerObservation<HttpData>> {
  const { text, isCut, isBinary } = await decodeBody(answer, context.capBytes);
  const members = {
    url: context.url.href,
    method: context.method,
    status: answer.status,
    headers: answer.headers,
    body: text,
    firstByteMs: answer.firstByteMs,
    redirects: [...context.redirects],
    ...(isBinary ? { binary: true } : {}),
    ...(answer.bodyFailure ? { bodyFailure: answer.bodyFailure } : {}),
  };
  const data = deserializeFrozen(members, true) as HttpData; // these members, the body a text when it is read
  return { ok: true, data, ms: context.ms, truncated: answer.truncated || isCut };
}

/** A redirect that was not followed to its end: the redirect itself is the answer. */
export function refuseRedirect(
  answer: AnswerObservation<HttpData>,
  to: string,
  { reason, detail }: { reason: string; detail: string } | RequestFailure,
): Observation<HttpData> {
  return {
    ...answer,
    data: { ...answer.data, refusedRedirect: { to, why: `${reason}: ${detail}` } },
  };
}
