import type { Socket } from 'node:net';
import type { ConnectionError } from 'fastify';

type ErrorAnswer = Readonly<Record<'statusLine' | 'error' | 'message', string>>;

/** The keys are Node's error codes. */
const ERROR_ANSWERS: Readonly<Record<string, ErrorAnswer>> = {
  HPE_HEADER_OVERFLOW: {
    statusLine: '431 Request Header Fields Too Large',
    error: 'headers_too_large',
    message: 'The request headers are over 32 KiB. Send fewer or shorter headers.',
  },
  ERR_HTTP_REQUEST_TIMEOUT: {
    statusLine: '408 Request Timeout',
    error: 'request_timeout',
    message: 'The request did not arrive in time. Send it again.',
  },
};

const MALFORMED_REQUEST: ErrorAnswer = {
  statusLine: '400 Bad Request',
  error: 'invalid_http',
  message: 'This is not a well-formed HTTP request.',
};

/** Answers a request that Node could not parse, or that arrived too slowly. Fastify never gets such a request. */
export function answerClientError(error: ConnectionError, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const { statusLine, ...members } = ERROR_ANSWERS[error.code] ?? MALFORMED_REQUEST;
  const body = JSON.stringify({ ...members, charged: false });
  const head = [
    `HTTP/1.1 ${statusLine}`,
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
}
