import { type TSchema, Type } from 'typebox';
import { OFFER_VERDICTS, PAYABLE_BY } from '../../model/payability.ts';
import { type Preflight, REASON_CODES, type ReasonCode, VERDICTS } from '../../preflight/result.ts';
import { otherWaysSchema } from './payability-schema.ts';

const oneOf = <T extends string>(values: readonly T[], description: string) =>
  Type.Unsafe<T>({ type: 'string', enum: [...values], description });
const nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()]);
const shown = nullable(Type.String());
const codes = Object.keys(REASON_CODES) as ReasonCode[]; // the keys of a closed record

export const preflightSchema = Type.Unsafe<Preflight>(
  Type.Object(
    {
      verdict: oneOf(VERDICTS, 'Says whether to pay.'),
      reasons: Type.Array(
        Type.Object({
          code: oneOf(codes, 'Codes are stable, so programs may decide by them.'),
          evidence: Type.String({
            description: 'Says what was seen, and quotes text of the seller.',
          }),
        }),
      ),
      terms: nullable(
        Type.Object({
          x402Version: nullable(Type.Integer()),
          resourceUrl: shown,
          payableBy: nullable(
            oneOf(
              PAYABLE_BY,
              'The least capable client that can pay: one with defaults, one with settings, or nobody.',
            ),
          ),
          offers: Type.Array(
            Type.Object({
              pointer: Type.String({
                description: 'JSON pointer into the challenge, such as "/accepts/0".',
              }),
              scheme: shown,
              network: shown,
              asset: shown,
              amount: nullable(Type.String({ description: 'In base units of the asset.' })),
              payTo: shown,
              maxTimeoutSeconds: nullable(Type.Number()),
              price: nullable(
                Type.String({ description: 'Such as "0.05 USDC"; null for an unknown asset.' }),
              ),
              isTestnet: Type.Boolean(),
              client: nullable(
                oneOf(OFFER_VERDICTS, 'Verdict of the official client on this offer.'),
              ),
            }),
          ),
        }),
      ),
      otherWays: Type.Optional(otherWaysSchema),
      termsDigest: nullable(
        Type.String({ description: 'A hash of the terms: equal terms have equal digests.' }),
      ),
    },
    { description: 'Says whether to pay, gives the reasons, and lists the terms that were seen.' },
  ),
);
