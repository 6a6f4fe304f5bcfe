import type { Socket } from 'node:net';
import type {
  ConnectionError,
  FastifyError,
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
} from 'fastify';
import fp from 'fastify-plugin';
import { OriginRefused } from '../src/scanner/guard/failures.ts';
import { ScannerFailure } from '../src/scanner/scan/scanner.ts';
import { PaidCallFailed, ServiceError } from '../src/service/errors/error-codes.ts';
import {
  BodyTooLarge,
  InternalError,
  InvalidJson,
  InvalidPath,
  InvalidRequest,
  InvalidUrl,
  RejectedParameter,
  ScannerFailed,
  StoreUnavailable,
  UnsupportedMediaType,
} from '../src/service/errors/errors.ts';
import { hasPaymentHeader } from '../src/service/payment/gate/payment-header.ts';
import { StoreError, type StoreErrorCode } from '../src/service/store/store-error.ts';

/** Answers every error of the API in one form, and logs those that are not the caller's fault. */
export default fp(
  async (app: FastifyInstance) => {
    app.setErrorHandler((error, request, reply) => answerError(error, request, reply));
  },
  { name: 'errors' },
);

export function answerError(
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const { serviceError, charged } = explainError(error, request, 'request failed');
  const { status, code, message, retryAfterSec } = serviceError;
  if (retryAfterSec !== null) reply.header('retry-after', retryAfterSec);
  if (status === 429) setLimitHeaders(serviceError, reply);
  return reply
    .code(status)
    .headers({ ...serviceError.headers, 'cache-control': 'no-store' })
    .send({ error: code, message, charged, ...serviceError.body });
}

/** Returns the error that the caller gets, and whether its payment was charged. Logs the cause if the fault is ours. */
export function explainError(error: unknown, request: FastifyRequest, logMessage: string) {
  const failedCall = error instanceof PaidCallFailed ? error : null;
  const serviceError = toServiceError(failedCall === null ? error : failedCall.cause, request);
  const { status, code, cause } = serviceError;
  if (status >= 500 && cause !== undefined) request.log.error({ err: cause, code }, logMessage);
  const charged = failedCall === null ? findCharged(serviceError, request) : failedCall.charged;
  return { serviceError, charged };
}

/** Replaces the headers about the route's own limit, because the request may have exceeded another limit. */
function setLimitHeaders({ limit, retryAfterSec }: ServiceError, reply: FastifyReply): void {
  if (limit !== null) reply.header('ratelimit-limit', limit);
  reply.header('ratelimit-remaining', 0);
  if (retryAfterSec !== null) reply.header('ratelimit-reset', retryAfterSec);
}

/** Returns null if the gate did not look up the payment of the request: an earlier request may have spent it. */
function findCharged(
  { charged, status }: ServiceError,
  { headers, routeOptions }: FastifyRequest,
): boolean | null {
  if (charged !== undefined) return charged;
  const isPaymentUnread = status === 429 || status >= 500;
  const isPaidRoute = routeOptions.config.offer?.kind === 'paid';
  return isPaidRoute && hasPaymentHeader(headers) && isPaymentUnread ? null : false;
}

/** Store errors that can go away without a change of our code. `full` means that the disk is full. */
const TRANSIENT_ERRORS: ReadonlySet<StoreErrorCode> = new Set(['unavailable', 'full', 'locked']);

export function toServiceError(error: unknown, request: FastifyRequest): ServiceError {
  if (error instanceof ServiceError) return error;
  if (error instanceof OriginRefused) return new InvalidUrl(error.message, error.reason);
  if (error instanceof ScannerFailure) return new ScannerFailed(error);
  if (error instanceof StoreError && TRANSIENT_ERRORS.has(error.code)) {
    return new StoreUnavailable(error);
  }
  return (error instanceof Error && fromFastifyError(error, request)) || new InternalError(error);
}

type FastifyFailure = Error & Partial<FastifyError>;

/** Maps an error that Fastify throws before the handler. Returns null for any other error. */
function fromFastifyError(error: FastifyFailure, request: FastifyRequest): ServiceError | null {
  if (error.validation !== undefined) return fromValidationError(error);
  switch (error.code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return new BodyTooLarge(request.server.initialConfig.bodyLimit ?? 0);
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return new UnsupportedMediaType();
    case 'FST_ERR_BAD_URL':
    case 'FST_ERR_MAX_PARAM_LENGTH':
      return new InvalidPath();
    case 'FST_ERR_CTP_EMPTY_JSON_BODY':
      return new InvalidJson('The body is empty.');
    default:
      return fromParserError(error);
  }
}

/** Maps any other 4xx error. The JSON parser throws a 400 without a code, also for members such as `__proto__`. */
function fromParserError(error: FastifyFailure): ServiceError | null {
  const { statusCode } = error;
  if (statusCode === undefined || statusCode < 400 || statusCode >= 500) return null;
  if (error.code === 'FST_ERR_CTP_INVALID_CONTENT_LENGTH') {
    return new InvalidRequest('The body is shorter or longer than Content-Length says.');
  }
  return new InvalidJson('The body is not JSON, or holds a forbidden key.');
}

function fromValidationError({ validation = [], validationContext }: Partial<FastifyError>) {
  const [fault] = validation;
  const missingName = fault?.params['missingProperty'];
  const isMissing = typeof missingName === 'string';
  const name = isMissing ? missingName : (fault?.instancePath.slice(1) ?? '');
  const verboseFault = fault as { parentSchema?: { description?: string } } | undefined; // ajv's verbose mode
  const acceptedValues = isMissing ? '' : (verboseFault?.parentSchema?.description ?? '');
  if (validationContext !== 'body') return new RejectedParameter(name, acceptedValues);
  const subject = name === '' ? 'The body' : `The member "${name}" of the body`;
  const problem = isMissing ? 'is missing' : (fault?.message ?? 'is not valid');
  return new InvalidRequest(`${subject} ${problem}. GET /openapi.json has the schema.`);
}

type ClientErrorAnswer = Readonly<Record<'statusLine' | 'error' | 'message', string>>;

/** Answers to errors of Node's HTTP server. The keys are Node's error codes. */
const CLIENT_ERROR_ANSWERS: Readonly<Record<string, ClientErrorAnswer>> = {
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

const MALFORMED_REQUEST_ANSWER: ClientErrorAnswer = {
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
  const { statusLine, ...members } = CLIENT_ERROR_ANSWERS[error.code] ?? MALFORMED_REQUEST_ANSWER;
  const body = JSON.stringify({ ...members, charged: false });
  const head = [
    `HTTP/1.1 ${statusLine}`,
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
}
