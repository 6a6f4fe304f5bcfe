/** The grade of one origin. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { isFresh } from '../../directory/freshness.ts';
import { type GradeSummary, gradeSummary } from '../../directory/grade-summary.ts';
import type { Origin } from '../../guard/origin.ts';
import { Type } from '../../model/schema.ts';
import type { HostGrade } from '../../store/contract/directory.ts';
import { errorResponses } from './error-schema.ts';
import { JSON_HEADERS } from './json-headers.ts';
import { rememberingOrigins } from './requested-origin.ts';
import type { RouteContext } from './route-context.ts';
import { urlParameter } from './url-parameter.ts';

const count = (status: string) =>
  Type.Unsafe<number | null>({ type: ['integer', 'null'], description: `Checks with ${status}.` });

const summarySchema = Type.Object(
  {
    origin: Type.String(),
    known: Type.Boolean({ description: 'Whether the origin has ever been scanned.' }),
    fresh: Type.Boolean({ description: 'Whether the result is younger than 24 hours.' }),
    grade: Type.Unsafe<'A' | 'B' | 'C' | 'D' | 'F' | null>({
      type: ['string', 'null'],
      enum: ['A', 'B', 'C', 'D', 'F', null],
    }),
    score: Type.Unsafe<number | null>({ type: ['integer', 'null'], minimum: 0, maximum: 100 }),
    passCount: count('pass'),
    warnCount: count('warn'),
    failCount: count('fail'),
    scannedAt: Type.Unsafe<string | null>({ type: ['string', 'null'], format: 'date-time' }),
    reportUrl: Type.String(),
  },
  { description: 'What is known of the origin; null where it was never scanned.' },
);

export const statusRoutes: FastifyPluginAsyncTypebox<RouteContext> = async (app, parts) => {
  const { store, config } = parts;
  const offer = config.revision.offers.status;
  if (offer === undefined) return;
  const originOf = rememberingOrigins(parts);
  const summaryOf = rememberingSummaries(config.siteUrl);
  const head = app.prepareHead(200, JSON_HEADERS);

  app.get(
    '/v1/status',
    {
      config: { offer },
      schema: {
        operationId: 'status',
        tags: ['scanning'],
        summary: 'Grade of an origin, and how fresh it is',
        description: 'The grade, score and counts of the last scan, without its findings.',
        querystring: Type.Object({ url: urlParameter }),
        response: {
          200: summarySchema,
          ...errorResponses(
            'invalid_url',
            'invalid_parameter',
            'invalid_query',
            'rate_limited',
            'store_unavailable',
          ),
        },
      },
    },
    ({ query }, reply) => {
      const origin = originOf(query.url);
      const answer = (grade: HostGrade | null) => {
        reply.sendPrepared(head, summaryOf(grade, origin, store.now()).text);
      };
      const grade = store.directory.gradeOf(origin.host);
      if (!(grade instanceof Promise)) return answer(grade);
      return grade.then(answer);
    },
  );
};

type WrittenSummary = {
  readonly summary: GradeSummary;
  readonly text: string;
};

/** Writes the summary of a grade once, until the grade is another one or no longer fresh. */
function rememberingSummaries(siteUrl: string) {
  const known = new WeakMap<HostGrade, WrittenSummary>();
  return (grade: HostGrade | null, origin: Origin, nowMs: number): WrittenSummary => {
    const found = grade === null ? undefined : known.get(grade);
    const isSame = (summary: GradeSummary, { scannedAtMs }: HostGrade) =>
      summary.origin === origin.url && summary.fresh === isFresh(scannedAtMs, nowMs);
    if (found !== undefined && grade !== null && isSame(found.summary, grade)) return found;
    const summary = gradeSummary(grade, origin, { siteUrl, nowMs });
    const written = { summary, text: JSON.stringify(summary) };
    if (grade !== null) known.set(grade, written);
    return written;
  };
}
