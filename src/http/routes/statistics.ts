import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import {
  DEFAULT_STATISTICS_DAYS,
  ROUNDING,
  readStatistics,
  STATISTICS_DAYS,
} from '../../directory/statistics.ts';
import { PAYABLE_STATES } from '../../model/payability.ts';
import { ALL_GRADES } from '../../model/report.ts';
import { errorResponses, STORE_ERRORS } from './error-schema.ts';
import { instantSchema, noticeProperties } from './record-schema.ts';
import type { RouteContext } from './route-context.ts';

const countSchema = Type.Integer({ minimum: 0, multipleOf: ROUNDING });

const dollarsSchema = Type.Unsafe<number | null>({ type: ['number', 'null'], minimum: 0 });

const countsOf = (names: readonly string[]) =>
  Type.Object(Object.fromEntries(names.map((name) => [name, countSchema])));

const namedCounts = (description: string) =>
  Type.Record(Type.String(), countSchema, { description });

const checkSchema = Type.Object({
  id: Type.String(),
  pass: countSchema,
  warn: countSchema,
  fail: countSchema,
  notDetermined: countSchema,
});

const statisticsSchema = Type.Object({
  asOf: instantSchema,
  days: Type.Integer({ description: 'UTC days before the present one.' }),
  unit: Type.String({ description: 'The unit of each count.' }),
  rounding: Type.Literal(ROUNDING, {
    description: 'Every count is rounded down to a multiple of it.',
  }),
  ...noticeProperties,
  origins: countSchema,
  grades: countsOf(ALL_GRADES),
  payableBy: countsOf(PAYABLE_STATES),
  availability: Type.Object(
    { payable: countSchema, notPayable: countSchema, down: countSchema, notChecked: countSchema },
    {
      description:
        'Hosts of the daily census, by what it found on the newest day that is over and had at least 10 of them; all 0 before the first.',
    },
  ),
  checks: Type.Array(checkSchema),
  offers: Type.Object({
    byScheme: namedCounts('By scheme; "other" counts schemes that the catalog does not know.'),
    byNetwork: namedCounts('By network, as CAIP-2 names it.'),
    byAsset: namedCounts('By address of the asset.'),
  }),
  prices: Type.Object(
    { p10: dollarsSchema, p50: dollarsSchema, p90: dollarsSchema, count: countSchema },
    {
      description: 'US dollars, the middle price of a host, exact to 10 %; null if the count is 0.',
    },
  ),
});

const querystring = Type.Object({
  days: Type.Optional(
    Type.String({
      enum: STATISTICS_DAYS.map(String),
      description: 'UTC days before the present one: 1, 7 (the default) or 30.',
      documented: { example: '7' },
    }),
  ),
});

/** Serves statistics of sellers; they hold only aggregates. */
export const statisticsRoutes: FastifyPluginAsyncTypebox<RouteContext> = async (app, parts) => {
  const { store, config, catalog } = parts;
  const offer = config.revision.offers.statistics;
  if (offer === undefined) return;
  const checkIds = catalog.checks.map(({ id }) => id);

  app.get(
    '/v1/statistics',
    {
      config: { offer },
      schema: {
        operationId: 'statistics',
        tags: ['directory'],
        summary: 'How sellers do: grades, checks, offers and prices in aggregates',
        description:
          'Counts of host-days over the 1, 7 or 30 UTC days before the present one, each rounded down to a multiple of 5. Days with fewer than 10 host-days count together with later ones.',
        querystring,
        response: {
          200: statisticsSchema,
          ...errorResponses('invalid_parameter', ...STORE_ERRORS),
        },
      },
    },
    async ({ query }) => {
      const wantedDays = Number(query.days ?? DEFAULT_STATISTICS_DAYS);
      const days = STATISTICS_DAYS.find((known) => known === wantedDays) ?? DEFAULT_STATISTICS_DAYS;
      return readStatistics(store, days, checkIds);
    },
  );
};
