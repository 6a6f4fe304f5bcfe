/** Decodes the body of an answer: at most one layer of compression, then its charset. */
import { isUtf8 } from 'node:buffer';
import type { Transform } from 'node:stream';
import {
  constants,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createInflateRaw,
} from 'node:zlib';
import type {
  AnswerObservation,
  FailureReason,
  Hop,
  HttpData,
  HttpMethod,
  Observation,
} from '../../model/observation.ts';
import { deserializeFrozen, MIN_SHARED_CHARS, shareBytes } from '../../parse/json/transfer.ts';
import { OTHER_BODY_LIMIT } from '../../parse/text/document-limits.ts';
import { headerValue, headerValues } from '../../parse/text/http-header.ts';
import {
  type BodyDecision,
  type BodyReading,
  GrowingBuffer,
  releasePages,
} from './body-reading.ts';
import { NoRoom } from './text-budget.ts';

export type ExchangeAnswer = {
  readonly status: number;
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** At most the first `capBytes` bytes, still encoded. */
  readonly body: Buffer;
  readonly truncated: boolean;
  readonly bodyFailure?: FailureReason;
  readonly firstByteMs: number;
};

type EncodedBody = Pick<ExchangeAnswer, 'headers' | 'body'>;

type DecodedBody = {
  /** A long UTF-8 text is kept as bytes in shared memory. */
  readonly text: string | SharedArrayBuffer;
  /** True if the text was cut at the cap. */
  readonly isCut: boolean;
  /** True if its compressed data is invalid. The text is what came before. */
  readonly isBroken: boolean;
  readonly isBinary: boolean;
};

/**
 * Returns the text of a body. Undoes at most one layer of compression, and stops after `capBytes`. A second
 * layer is a trap, because the request asked for `identity`. Text is UTF-8 unless a byte order mark or the
 * charset of Content-Type says otherwise. Invalid bytes become U+FFFD. A body with a NUL byte is not text. `reading`
 * decides if more of a long body is read.
 */
async function decodeBody(
  answer: ExchangeAnswer,
  capBytes: number,
  reading: BodyReading,
): Promise<DecodedBody> {
  const [encoding, ...furtherEncodings] = listEncodings(answer);
  let bytes = answer.body;
  let isCut = false;
  let isBroken = false;
  if (encoding !== undefined && bytes.length > 0) {
    const decoder = furtherEncodings.length === 0 ? createDecoder(encoding, bytes) : null;
    if (!decoder) return { text: '', isCut: false, isBinary: true, isBroken };
    const decideToReadOn = (inflated: Buffer) => {
      const { status } = answer;
      const size = inflated.length;
      if (!reading.isDecisionDue(size)) return 'read';
      const readBeginning = async () => toBeginning(answer, inflated);
      return reading.decideToReadOn({ status, size, readBeginning });
    };
    ({ bytes, isCut, isBroken } = await inflate(decoder, bytes, capBytes, decideToReadOn));
  }
  // If a JSON document is cut, checks need only its beginning: it shows if the answer is an HTML page.
  const isCutJson = reading.expectsJson && (answer.truncated || isCut || isBroken);
  const wholeBody = bytes;
  if (isCutJson) bytes = bytes.subarray(0, OTHER_BODY_LIMIT);
  const charset = findCharset(answer, bytes);
  const isBinary = !charset.startsWith('utf-16') && bytes.includes(0);
  const text = isBinary ? '' : toText(bytes, charset);
  releasePages(wholeBody); // the text is a copy
  return { text, isCut, isBinary, isBroken };
}

/** Returns the first characters of a body, of which more may follow. */
export async function decodeBeginning(answer: EncodedBody): Promise<string> {
  const [encoding] = listEncodings(answer);
  const decoder = encoding === undefined ? null : createDecoder(encoding, answer.body);
  if (decoder === null) return toBeginning(answer, answer.body);
  const { bytes } = await inflate(decoder, answer.body, OTHER_BODY_LIMIT);
  return toBeginning(answer, bytes);
}

function toBeginning(answer: EncodedBody, bytes: Buffer): string {
  const charset = findCharset(answer, bytes);
  return new TextDecoder(charset).decode(bytes.subarray(0, OTHER_BODY_LIMIT));
}

function toText(bytes: Buffer, charset: string): DecodedBody['text'] {
  if (charset !== 'utf-8' || bytes.length < MIN_SHARED_CHARS || !isUtf8(bytes)) {
    return new TextDecoder(charset).decode(bytes);
  }
  const hasByteOrderMark = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
  return shareBytes(hasByteOrderMark ? bytes.subarray(3) : bytes);
}

/** Decompresses up to `capBytes`, or until `decideToReadOn` decides otherwise. Throws NoRoom. */
async function inflate(
  decoder: Transform,
  input: Buffer,
  capBytes: number,
  decideToReadOn: (inflated: Buffer) => BodyDecision | Promise<BodyDecision> = () => 'read',
) {
  const inflated = new GrowingBuffer(capBytes);
  decoder.end(input);
  const toResult = (end: { isCut?: true; isBroken?: true }) => {
    return { isCut: false, isBroken: false, bytes: inflated.view(), ...end };
  };
  try {
    for await (const chunk of decoder) {
      // Leaving the loop destroys the decoder. This stops a decompression bomb.
      if (!inflated.append(chunk)) return toResult({ isCut: true });
      const decision = await decideToReadOn(inflated.view());
      if (decision === 'cut') return toResult({ isCut: true });
      if (decision === 'no-room') throw new NoRoom();
    }
  } catch (error) {
    if (error instanceof NoRoom) throw error;
    return toResult({ isBroken: true });
  }
  return toResult({});
}

function createDecoder(encoding: string, bytes: Buffer): Transform | null {
  // With these flushes, data that ends too early is no error: its beginning is the text.
  const flush = { finishFlush: constants.Z_SYNC_FLUSH };
  if (encoding === 'gzip' || encoding === 'x-gzip') return createGunzip(flush);
  if (encoding === 'br') {
    return createBrotliDecompress({ finishFlush: constants.BROTLI_OPERATION_FLUSH });
  }
  if (encoding !== 'deflate') return null;
  // In RFC 9110 `deflate` is zlib, but some servers send raw deflate. The first byte of zlib ends with the method, 8.
  return ((bytes[0] ?? 0) & 0x0f) === 8 ? createInflate(flush) : createInflateRaw(flush);
}

function findCharset(answer: EncodedBody, bytes: Buffer): string {
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return 'utf-16be';
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le';
  const contentType = headerValue(answer, 'content-type') ?? '';
  const label = /;[ \t]*charset="?([a-z0-9_:.+-]{1,40})/i.exec(contentType)?.[1] ?? 'utf-8';
  try {
    return new TextDecoder(label).encoding;
  } catch {
    return 'utf-8';
  }
}

function listEncodings(answer: EncodedBody): string[] {
  return headerValues(answer, 'content-encoding')
    .flatMap((value) => value.toLowerCase().split(','))
    .map((item) => item.trim())
    .filter((encoding) => encoding !== '' && encoding !== 'identity');
}

type AnswerContext = {
  readonly url: URL;
  readonly method: HttpMethod;
  readonly capBytes: number;
  readonly redirects: readonly Hop[];
  readonly ms: number;
};

/** Turns an answer into frozen plain data with the body as text. */
export async function observeAnswer(
  answer: ExchangeAnswer,
  context: AnswerContext,
  reading: BodyReading,
): Promise<AnswerObservation<HttpData>> {
  const { text, isCut, isBinary, isBroken } = await decodeBody(answer, context.capBytes, reading);
  // A body that was cut at its cap counts as cut, even if its compressed data is invalid too.
  const bodyFailure = answer.bodyFailure ?? (isBroken && !answer.truncated ? 'malformed' : null);
  const serialized = {
    url: context.url.href,
    method: context.method,
    status: answer.status,
    headers: answer.headers,
    body: text,
    firstByteMs: answer.firstByteMs,
    redirects: [...context.redirects],
    ...(isBinary ? { binary: true } : {}),
    ...(bodyFailure === null ? {} : { bodyFailure }),
  };
  // HttpData in serialized form: a shared body is decoded when it is read. `true` keeps its bytes for workers.
  const data = deserializeFrozen(serialized, true) as HttpData;
  return { ok: true, data, ms: context.ms, truncated: answer.truncated || isCut || isBroken };
}

/** Returns the redirect itself as the answer, with the reason why it was not followed. */
export function refuseRedirect(
  answer: AnswerObservation<HttpData>,
  to: string,
  { reason, detail }: { readonly reason: string; readonly detail: string },
): Observation<HttpData> {
  return {
    ...answer,
    data: { ...answer.data, refusedRedirect: { to, why: `${reason}: ${detail}` } },
  };
}
