import { type TSchema, Type } from 'typebox';
import { OFFER_VERDICTS, PAYABLE_BY } from '../../model/payability.ts';
import { type Preflight, REASON_CODES, type ReasonCode, VERDICTS } from '../../preflight/result.ts';

const oneOf = <T extends string>(values: readonly T[], description: string) =>
  Type.Unsafe<T>({ type: 'string', enum: [...values], description });
const nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()]);
const shown = nullable(Type.String());
const codes = Object.keys(REASON_CODES) as ReasonCode[]; // the keys of a closed record

export const preflightSchema = Type.Unsafe<Preflight>(
  Type.Object(
    {
      verdict: oneOf(VERDICTS, 'Whether to pay.'),
      reasons: Type.Array(
        Type.Object({
          code: oneOf(codes, 'Stable: decide by it.'),
          evidence: Type.String({ description: 'What was seen; text of the seller is quoted.' }),
        }),
      ),
      terms: nullable(
        Type.Object({
          x402Version: nullable(Type.Integer()),
          resourceUrl: shown,
          payableBy: nullable(oneOf(PAYABLE_BY, 'Whose client can pay.')),
          offers: Type.Array(
            Type.Object({
              pointer: Type.String({ description: 'Into the challenge: "/accepts/0".' }),
              scheme: shown,
              network: shown,
              asset: shown,
              amount: nullable(Type.String({ description: 'Base units.' })),
              payTo: shown,
              maxTimeoutSeconds: nullable(Type.Number()),
              price: nullable(
                Type.String({ description: '"0.05 USDC", where the asset is known.' }),
              ),
              isTestnet: Type.Boolean(),
              client: nullable(oneOf(OFFER_VERDICTS, 'What the official client does with it.')),
            }),
          ),
        }),
      ),
      termsDigest: nullable(Type.String({ description: 'Equal digests are equal terms.' })),
    },
    { description: 'Whether to pay, why, and the terms as they stood.' },
  ),
);
