/** What an HTTP/2 session lets an origin send, and what of an origin's settings is of use. */
import type { ClientSessionOptions, Settings } from 'node:http2';
import type { Limits } from '../../guard/limits.ts';

/** Of an answer that is cut, so many bytes may be under way; of all answers together, eight times. */
export const STREAM_WINDOW_BYTES = 131_072;
/** HPACK counts so much for each header, beside its name and value (RFC 7541, 4.1). */
const FIELD_OVERHEAD_BYTES = 32;
/** Below it no body that is posted would be certain to leave. */
const MIN_SEND_WINDOW_BYTES = 16_384;
const MAX_STREAMS = 40;

/** Node's types leave one of its options out. */
type SessionOptions = ClientSessionOptions & { readonly maxSessionInvalidFrames: number };

/**
 * Frames cost an origin nothing: here they are bytes off the wire and processor time of TLS, as everything
 * it sends, and Node answers pings and settings without a word to this code. A list of headers ends at
 * their number while it is unpacked; its size, which an origin is told, Node does not hold it to.
 */
export function sessionOptions({ maxHeaders, maxHeaderBytes }: Limits): SessionOptions {
  // The status is one of them.
  const maxHeaderListPairs = maxHeaders + 1;
  return {
    maxHeaderListPairs,
    maxSessionMemory: 2,
    maxSessionInvalidFrames: 8,
    maxReservedRemoteStreams: 0,
    maxSettings: 16,
    maxSendHeaderBlockLength: 16_384,
    peerMaxConcurrentStreams: MAX_STREAMS,
    settings: {
      enablePush: false,
      headerTableSize: 4_096,
      initialWindowSize: STREAM_WINDOW_BYTES,
      maxConcurrentStreams: 0,
      maxHeaderListSize: maxHeaderBytes + maxHeaderListPairs * FIELD_OVERHEAD_BYTES,
    },
  };
}

/** All the streams of one session, whose windows together are no more than this. */
export const SESSION_WINDOW_BYTES = 8 * STREAM_WINDOW_BYTES;

/** How many requests an origin takes at once; none where connections of HTTP/1.1 would take more. */
export function usableStreams(settings: Settings, { pipelining }: Limits): number {
  const { maxConcurrentStreams = MAX_STREAMS, initialWindowSize = 0 } = settings;
  if (initialWindowSize < MIN_SEND_WINDOW_BYTES || maxConcurrentStreams < pipelining) return 0;
  return Math.min(maxConcurrentStreams, MAX_STREAMS);
}
