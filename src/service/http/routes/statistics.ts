import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import { PAYABLE_STATES } from '../../../scanner/model/payability.ts';
import { ALL_GRADES } from '../../../scanner/model/report.ts';
import {
  ROUNDING,
  readStatistics,
  STATISTICS_DAYS,
  toStatisticsDays,
} from '../../directory/statistics.ts';
import { errorResponses, instantSchema, noticeProperties, STORE_ERRORS } from './answer-schema.ts';
import type { RouteContext } from './route-context.ts';

const countSchema = Type.Integer({ minimum: 0, multipleOf: ROUNDING });

const dollarsSchema = Type.Unsafe<number | null>({ type: ['number', 'null'], minimum: 0 });

const countsSchema = (names: readonly string[]) =>
  Type.Object(Object.fromEntries(names.map((name) => [name, countSchema])));

const countsByNameSchema = (description: string) =>
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
  days: Type.Integer({ description: 'Number of UTC days before today.' }),
  unit: Type.String({ description: 'The unit of each count.' }),
  rounding: Type.Literal(ROUNDING, {
    description: 'Every count is rounded down to a multiple of this number.',
  }),
  ...noticeProperties,
  origins: countSchema,
  grades: countsSchema(ALL_GRADES),
  payableBy: countsSchema(PAYABLE_STATES),
  availability: Type.Object(
    { payable: countSchema, notPayable: countSchema, down: countSchema, notChecked: countSchema },
    {
      description:
        'The hosts of the daily census, counted by result, on the last full day with at least 10 hosts. All counts are 0 if no day had 10 hosts.',
    },
  ),
  checks: Type.Array(checkSchema),
  offers: Type.Object({
    byScheme: countsByNameSchema(
      'By scheme; "other" counts schemes that the catalog does not know.',
    ),
    byNetwork: countsByNameSchema('By network, as CAIP-2 names it.'),
    byAsset: countsByNameSchema('By address of the asset.'),
  }),
  prices: Type.Object(
    { p10: dollarsSchema, p50: dollarsSchema, p90: dollarsSchema, count: countSchema },
    {
      description:
        'In US dollars: percentiles of the median price of each host, exact to 10 %. A percentile is null unless on a single day at least 5 hosts ask at most this price, 5 at least this price, and 5 a price within 10 % of it.',
    },
  ),
});

const querystring = Type.Object({
  days: Type.Optional(
    Type.String({
      enum: STATISTICS_DAYS.map(String),
      description: 'Number of UTC days before today: 1, 7 (the default) or 30.',
      documented: { example: '7' },
    }),
  ),
});

/** Serves statistics of all sellers, which name no host. */
export const statisticsRoutes: FastifyPluginAsyncTypebox<RouteContext> = async (app, parts) => {
  const { store, catalog } = parts;
  const checkIds = catalog.checks.map(({ id }) => id);
  app.offer('statistics', {
    method: 'GET',
    url: '/v1/statistics',
    schema: {
      tags: ['directory'],
      summary: 'Totals over all sellers: grades, checks, offers and prices',
      description:
        'Counts of host-days in the 1, 7 or 30 UTC days before today, each rounded down to a multiple of 5. A day with fewer than 10 host-days is counted together with later days.',
      querystring,
      response: { 200: statisticsSchema, ...errorResponses('invalid_parameter', ...STORE_ERRORS) },
    },
    handler: async ({ query }) => readStatistics(store, toStatisticsDays(query.days), checkIds),
  });
};
