import { type TSchema, Type } from 'typebox';

const nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()]);
const shown = nullable(Type.String());
const operations = Type.Array(Type.Object({ method: Type.String(), template: Type.String() }));

/** The sold routes that documents and challenges declare. */
export const routesSchema = Type.Optional(
  Type.Object(
    {
      paid: Type.Array(
        Type.Object({
          method: shown,
          template: nullable(
            Type.String({
              description: 'As declared: "/weather/{city}"; null where nothing does.',
            }),
          ),
          path: Type.String({ description: 'A request that stands for it.' }),
          description: shown,
          mimeType: shown,
          offers: Type.Array(
            Type.Object({
              scheme: shown,
              network: shown,
              asset: shown,
              amount: shown,
              payTo: shown,
            }),
          ),
        }),
      ),
      signIn: operations,
      free: operations,
      isComplete: Type.Boolean({ description: 'False where there are more than are listed.' }),
    },
    { description: 'The routes that patches are written from; they ground no grade.' },
  ),
);
