import { type TSchema, Type } from 'typebox';
import { ERROR_CODES, type ErrorCode } from '../../model/error-codes.ts';

/** Errors of every route that reads a JSON body. */
export const BODY_ERRORS = [
  'invalid_request',
  'invalid_json',
  'body_too_large',
  'unsupported_media_type',
] as const satisfies readonly ErrorCode[];

/** Errors of every route that reads the store. */
export const STORE_ERRORS = ['rate_limited', 'store_unavailable'] as const;

/** Errors of every route whose query names an origin. */
export const URL_ERRORS = ['invalid_url', 'invalid_parameter', ...STORE_ERRORS] as const;

/** Every route may answer these: the query guard, the load guard, and a fault of ours. */
const EVERYWHERE = ['invalid_query', 'saturated', 'internal_error'] as const;

/** Response schemas, by status, for the errors that a route answers. */
export function errorResponses(...codes: readonly ErrorCode[]): Record<number, TSchema> {
  const all = [...new Set([...codes, ...EVERYWHERE])];
  const byStatus = Map.groupBy(all, (code) => ERROR_CODES[code].status);
  return Object.fromEntries(
    [...byStatus].map(([status, group]) => [status, errorSchema(group)] as const),
  );
}

function errorSchema(codes: readonly ErrorCode[]): TSchema {
  return Type.Object(
    {
      error: Type.Unsafe<ErrorCode>({ type: 'string', enum: [...codes] }),
      message: Type.String({ description: 'What happened and what to do.' }),
      charged: Type.Unsafe<boolean | null>({
        type: ['boolean', 'null'],
        description:
          'What became of the payment that was sent: true once it settled, null while that is in doubt, else false.',
      }),
      ...(codes.includes('scan_processing') && {
        status: Type.String({ const: 'processing' }),
        retryAfterSec: Type.Integer(),
      }),
    },
    {
      additionalProperties: true,
      description: codes.map((code) => ERROR_CODES[code].meaning).join(' '),
    },
  );
}

export const JSON_HEADERS = { 'content-type': 'application/json; charset=utf-8' } as const;
