/** Schemas of error answers. */

import { type TSchema, Type } from 'typebox';
import { ERROR_CODES, type ErrorCode } from '../../model/error-codes.ts';

/** Whatever a route does, it may answer these: the guard of queries, the guard of load, a fault. */
const EVERYWHERE = ['invalid_query', 'saturated', 'internal_error'] as const;

/**
 * Every code there is, for clients that want one list: what no operation answers (`not_found`,
 * `method_not_allowed`, …) is answered where there is none.
 */
export function anyErrorSchema() {
  return {
    type: 'object' as const,
    description: 'Every error of this API has this form.',
    required: ['error', 'message'],
    properties: {
      error: {
        type: 'string' as const,
        enum: Object.keys(ERROR_CODES),
        description: 'Stable: decide by it, not by the message.',
      },
      message: { type: 'string' as const, description: 'What happened and what to do.' },
    },
  };
}

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
