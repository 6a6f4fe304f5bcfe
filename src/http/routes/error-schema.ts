import { type TSchema, Type } from 'typebox';
import { ERROR_CODES, type ErrorCode } from '../../errors/error-codes.ts';

/** Errors of every route that reads a JSON body. */
export const BODY_ERRORS = [
  'invalid_request',
  'invalid_json',
  'body_too_large',
  'unsupported_media_type',
] as const satisfies readonly ErrorCode[];

/** Errors of every route that has a rate limit and reads the store. */
export const STORE_ERRORS = ['rate_limited', 'store_unavailable'] as const;

/** Errors of every route whose query names an origin. */
export const URL_ERRORS = ['invalid_url', 'invalid_parameter', ...STORE_ERRORS] as const;

/** Errors of every route. Their causes are an ambiguous query, an overload, and a fault in our code. */
const COMMON_ERRORS = ['invalid_query', 'saturated', 'internal_error'] as const;

/** Returns the schemas of a route's error answers, by status. */
export function errorResponses(...codes: readonly ErrorCode[]): Record<number, TSchema> {
  const allCodes = [...new Set([...codes, ...COMMON_ERRORS])];
  const byStatus = Map.groupBy(allCodes, (code) => ERROR_CODES[code].status);
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
          'True if the payment of this request was settled, null while nobody knows if it was settled, else false.',
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
