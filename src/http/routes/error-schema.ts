import { type TSchema, Type } from 'typebox';
import { ERROR_CODES, type ErrorCode } from '../../errors/codes.ts';

/** Response schemas, by status, for the errors that a route answers. */
export function errorResponses(...codes: readonly ErrorCode[]): Record<number, TSchema> {
  const byStatus = Map.groupBy(codes, (code) => ERROR_CODES[code].status);
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
