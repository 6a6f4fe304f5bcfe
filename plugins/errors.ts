import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import fp from 'fastify-plugin';
import { OriginRefused } from '../src/guard/errors.ts';
import { PaidCallFailed } from '../src/model/error-codes.ts';
import {
  BodyTooLarge,
  InternalError,
  InvalidJson,
  InvalidPath,
  InvalidRequest,
  InvalidUrl,
  RejectedParameter,
  ScannerFailed,
  ServiceError,
  StoreUnavailable,
  UnsupportedMediaType,
} from '../src/model/errors.ts';
import { hasPaymentHeader } from '../src/payment/gate/payment-header.ts';
import { ScannerFailure } from '../src/scan/scanner.ts';
import { StoreError, type StoreErrorCode } from '../src/store/errors.ts';

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
  const paid = error instanceof PaidCallFailed ? error : null;
  const known = toServiceError(paid === null ? error : paid.cause, request);
  const charged = paid === null ? (known.charged ?? chargedUnsaid(known, request)) : paid.charged;
  if (known.status >= 500 && known.cause !== undefined) {
    request.log.error({ err: known.cause, code: known.code }, 'request failed');
  }
  if (known.retryAfterSec !== null) reply.header('retry-after', known.retryAfterSec);
  if (known.status === 429) tellLimit(known, reply);
  return reply
    .code(known.status)
    .headers({ ...known.headers, 'cache-control': 'no-store' })
    .send({
      error: known.code,
      message: known.message,
      charged,
      ...known.body,
    });
}

/** Replaces the rate headers of the route, which may have room, with those of the limit that was reached. */
function tellLimit({ limit, retryAfterSec }: ServiceError, reply: FastifyReply): void {
  if (limit !== null) reply.header('ratelimit-limit', limit);
  reply.header('ratelimit-remaining', 0);
  if (retryAfterSec !== null) reply.header('ratelimit-reset', retryAfterSec);
}

/**
 * Leaves `charged` out if the payment gate did not look: a payment that was sent along may be one
 * that was charged before.
 */
function chargedUnsaid({ charged, status }: ServiceError, request: FastifyRequest): false | null {
  if (charged === null) return null;
  const { headers, routeOptions } = request;
  const isUnread = status === 429 || status >= 500;
  const isSold = routeOptions.config.offer?.kind === 'paid';
  return isSold && hasPaymentHeader(headers) && isUnread ? null : false;
}

/** Errors that end without a change of our code: disk space, a released lock, a server that returns. */
const PASSING: ReadonlySet<StoreErrorCode> = new Set(['unavailable', 'full', 'locked']);

export function toServiceError(error: unknown, request: FastifyRequest): ServiceError {
  if (error instanceof ServiceError) return error;
  if (error instanceof OriginRefused) return new InvalidUrl(error.message, error.reason);
  if (error instanceof ScannerFailure) return new ScannerFailed(error);
  if (error instanceof StoreError && PASSING.has(error.code)) {
    return new StoreUnavailable(error);
  }
  return (error instanceof Error && fromFramework(error, request)) || new InternalError(error);
}

/** Maps an error that Fastify throws before the handler; null for any other. */
function fromFramework(
  error: Error & Partial<FastifyError>,
  request: FastifyRequest,
): ServiceError | null {
  if (error.validation !== undefined) return fromValidation(error);
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
      return fromStatus(error);
  }
}

/** The JSON parser and its guard against prototype keys throw a 400 without a code. */
function fromStatus(error: Error & Partial<FastifyError>): ServiceError | null {
  const { statusCode } = error;
  if (statusCode === undefined || statusCode < 400 || statusCode >= 500) return null;
  if (error.code === 'FST_ERR_CTP_INVALID_CONTENT_LENGTH') {
    return new InvalidRequest('The body is shorter or longer than Content-Length says.');
  }
  return new InvalidJson('The body is not JSON, or holds a forbidden key.');
}

function fromValidation({ validation = [], validationContext }: Partial<FastifyError>) {
  const [first] = validation;
  const missing = first?.params['missingProperty'];
  const name = typeof missing === 'string' ? missing : (first?.instancePath.slice(1) ?? '');
  const described = first as { parentSchema?: { description?: string } } | undefined; // ajv's verbose mode
  const accepted = described?.parentSchema?.description ?? '';
  if (validationContext !== 'body') {
    return new RejectedParameter(name, typeof missing === 'string' ? '' : accepted);
  }
  const where = name === '' ? 'The body' : `The member "${name}" of the body`;
  const problem = typeof missing === 'string' ? 'is missing' : (first?.message ?? 'is not valid');
  return new InvalidRequest(`${where} ${problem}. GET /openapi.json has the schema.`);
}
