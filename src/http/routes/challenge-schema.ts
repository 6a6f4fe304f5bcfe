import { Type } from 'typebox';

/** The body of a 402 (interface spec 2.7): the same JSON as in its `PAYMENT-REQUIRED` header. */
export const challengeSchema = Type.Object(
  {
    x402Version: Type.Integer({ const: 2 }),
    error: Type.String({ description: 'A stable code, a colon, and what to do.' }),
    resource: Type.Object({ url: Type.String() }, { additionalProperties: true }),
    accepts: Type.Array(
      Type.Object({
        scheme: Type.String({ const: 'exact' }),
        network: Type.String({ description: 'CAIP-2, such as eip155:8453.' }),
        asset: Type.String(),
        amount: Type.String({ description: 'Base units of the asset, an integer.' }),
        payTo: Type.String(),
        maxTimeoutSeconds: Type.Integer(),
        extra: Type.Object({ name: Type.String(), version: Type.String() }),
      }),
    ),
    extensions: Type.Optional(Type.Object({}, { additionalProperties: true })),
  },
  { description: 'Payment required: sign for one entry of accepts and send PAYMENT-SIGNATURE.' },
);
