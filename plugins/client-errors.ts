import type { Socket } from 'node:net';
import type { ConnectionError } from 'fastify';

type Refusal = { readonly line: string; readonly error: string; readonly message: string };

const REFUSALS: Readonly<Record<string, Refusal>> = {
  HPE_HEADER_OVERFLOW: {
    line: '431 Request Header Fields Too Large',
    error: 'headers_too_large',
    message: 'The request headers are over 32 KiB. Send fewer or shorter ones.',
  },
  ERR_HTTP_REQUEST_TIMEOUT: {
    line: '408 Request Timeout',
    error: 'request_timeout',
    message: 'The request did not arrive in time. Send it again.',
  },
};

const MALFORMED: Refusal = {
  line: '400 Bad Request',
  error: 'invalid_http',
  message: 'This is not a well-formed HTTP request.',
};

/** Answers bytes that Node could not parse as an HTTP request; Fastify never sees them. */
export function answerClientError(error: ConnectionError, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const { line, ...refusal } = REFUSALS[error.code] ?? MALFORMED;
  const body = JSON.stringify({ ...refusal, charged: false });
  const head = [
    `HTTP/1.1 ${line}`,
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
}
