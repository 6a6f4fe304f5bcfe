import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import { SCORE_NOTE } from '../documents/score-note.ts';
import { errorResponses } from './error-schema.ts';
import type { RouteContext } from './route-context.ts';

const category = Type.Unsafe<'protocol' | 'docs' | 'directory'>({
  type: 'string',
  enum: ['protocol', 'docs', 'directory'],
});

const catalogSchema = Type.Object(
  {
    checksVersion: Type.String({ description: '<date>.<n>' }),
    totalChecks: Type.Integer(),
    categories: Type.Array(
      Type.Object({
        key: category,
        label: Type.String(),
        count: Type.Integer(),
        description: Type.String(),
      }),
    ),
    checks: Type.Optional(
      Type.Array(
        Type.Object({
          id: Type.String(),
          title: Type.String(),
          severity: Type.Unsafe<'critical' | 'major' | 'minor'>({
            type: 'string',
            enum: ['critical', 'major', 'minor'],
          }),
          category,
        }),
      ),
    ),
    note: Type.Optional(Type.String({ description: 'How the score is computed.' })),
  },
  { description: 'The checks that every scan runs.' },
);

export const checksRoutes: FastifyPluginAsyncTypebox<RouteContext> = async (
  app,
  { config, catalog },
) => {
  const { offers, catalogListsChecks } = config.revision;
  const offer = offers.checks;
  if (offer === undefined) return;

  const { checksVersion, categories, checks } = catalog;
  const summary = {
    checksVersion,
    totalChecks: checks.length,
    categories: categories.map(({ key, label, count, description }) => ({
      key,
      label,
      count,
      description,
    })),
  };
  const answer = catalogListsChecks
    ? {
        ...summary,
        checks: checks.map(({ id, title, severity, category }) => ({
          id,
          title,
          severity,
          category,
        })),
        note: SCORE_NOTE,
      }
    : summary;

  app.get(
    '/v1/checks',
    {
      config: { offer },
      schema: {
        operationId: 'checks',
        tags: ['scanning'],
        summary: 'The catalog of checks',
        response: { 200: catalogSchema, ...errorResponses('rate_limited') },
      },
    },
    async () => answer,
  );
};
