import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { type Static, Type } from 'typebox';
import { DISCLAIMER, featuredQuery, PROVENANCE, toProject } from '../../directory/project.ts';
import { OriginRefused } from '../../guard/errors.ts';
import { UnknownProject } from '../../model/errors.ts';
import { ALL_GRADES, CATEGORIES } from '../../model/report.ts';
import { oneOf } from '../../model/shapes.ts';
import type { DirectoryQuery } from '../../store/context.ts';
import { errorResponses, STORE_ERRORS, URL_ERRORS } from './error-schema.ts';
import type { RouteContext } from './route-context.ts';
import { DOCUMENTED_URL, requestedOrigin } from './url-parameter.ts';

const DEFAULT_PAGE_SIZE = 50;
/** `/v1/featured` has no pages, so its answer is capped. */
const MAX_FEATURED = 1_000;

const directoryQuery = Type.Object({
  sort: Type.Optional(
    oneOf(
      ['recent', 'grade'],
      '"recent" (newest scan first, the default) or "grade" (best first).',
      { example: 'recent' },
    ),
  ),
  category: Type.Optional(
    oneOf<string>(CATEGORIES, `One of ${CATEGORIES.join(', ')}.`, { example: 'data' }),
  ),
  verified: Type.Optional(
    oneOf(['true', 'false'], '"true" lists only projects of verified owners; "false" lists all.', {
      example: 'false',
    }),
  ),
  q: Type.Optional(
    Type.String({
      maxLength: 253,
      description: 'Part of a host, literally, in either case; at most 253 characters.',
      documented: { example: 'api' },
    }),
  ),
  page: Type.Optional(
    Type.String({
      pattern: '^(0|[1-9][0-9]{0,11})$',
      description: 'Page number from 0, default 0.',
      documented: { example: '0' },
    }),
  ),
  pageSize: Type.Optional(
    Type.String({
      pattern: '^([1-9][0-9]?|100)$',
      description: 'Items on a page: an integer from 1 to 100, default 50.',
      documented: { example: '50' },
    }),
  ),
});

const listErrors = errorResponses('invalid_parameter', ...STORE_ERRORS);

export const directoryRoutes: FastifyPluginAsyncTypebox<RouteContext> = async (app, parts) => {
  await app.register(listRoute, parts);
  await app.register(featuredRoute, parts);
  await app.register(projectRoute, parts);
};

const listRoute: FastifyPluginAsyncTypebox<RouteContext> = async (app, { store, config }) => {
  const offer = config.revision.offers.directory;
  if (offer === undefined) return;
  app.get(
    '/v1/directory',
    {
      config: { offer },
      schema: {
        operationId: 'directory',
        tags: ['directory'],
        summary: 'Scanned origins, page by page',
        querystring: directoryQuery,
        response: {
          200: Type.Object({
            count: Type.Integer({ description: 'All matches, not only those of this page.' }),
            page: Type.Integer(),
            pageSize: Type.Integer(),
            ...noticeProperties,
            projects: Type.Array(projectSchema),
          }),
          ...listErrors,
        },
      },
    },
    async (request) => {
      const wanted = wantedOf(request.query);
      const { page, pageSize } = wanted;
      const nowMs = store.now();
      const { count, records } = await store.directory.list(wanted);
      const projects = records.map((record) => toProject(record, config.siteUrl, nowMs));
      return { count, page, pageSize, disclaimer: DISCLAIMER, provenance: PROVENANCE, projects };
    },
  );
};

function wantedOf(query: Static<typeof directoryQuery>): DirectoryQuery {
  return {
    sort: query.sort ?? 'recent',
    category: query.category,
    verified: query.verified === 'true' ? true : undefined,
    q: query.q,
    page: Number(query.page ?? 0),
    pageSize: Number(query.pageSize ?? DEFAULT_PAGE_SIZE),
  };
}

const featuredRoute: FastifyPluginAsyncTypebox<RouteContext> = async (app, { store, config }) => {
  const offer = config.revision.offers.featured;
  if (offer === undefined) return;
  app.get(
    '/v1/featured',
    {
      config: { offer },
      schema: {
        operationId: 'featured',
        tags: ['directory'],
        summary: 'Origins graded A within the last 30 days, newest first',
        response: {
          200: Type.Object({
            count: Type.Integer(),
            ...noticeProperties,
            projects: Type.Array(projectSchema),
          }),
          ...listErrors,
        },
      },
    },
    async () => {
      const nowMs = store.now();
      const featured = featuredQuery(nowMs, MAX_FEATURED);
      const { count, records } = await store.directory.list(featured);
      const projects = records.map((record) => toProject(record, config.siteUrl, nowMs));
      return { count, disclaimer: DISCLAIMER, provenance: PROVENANCE, projects };
    },
  );
};

const projectRoute: FastifyPluginAsyncTypebox<RouteContext> = async (app, parts) => {
  const { store, config } = parts;
  const offer = config.revision.offers.project;
  if (offer === undefined) return;
  app.get(
    '/v1/project',
    {
      config: { offer },
      schema: {
        operationId: 'project',
        tags: ['directory'],
        summary: 'The directory record of one origin',
        querystring: Type.Object({
          host: Type.String({
            description: 'A host or URL, such as api.example.com.',
            documented: { ...DOCUMENTED_URL, example: 'api.example.com' },
          }),
        }),
        response: {
          200: Type.Object({ ...projectProperties, ...noticeProperties }),
          ...errorResponses(...URL_ERRORS, 'unknown_project'),
        },
      },
    },
    async ({ query }) => {
      const host = requestedHost(query.host, parts);
      const record = await store.directory.get(host);
      if (record === null || !record.listed) throw new UnknownProject(host);
      const project = toProject(record, config.siteUrl, store.now());
      return { ...project, disclaimer: DISCLAIMER, provenance: PROVENANCE };
    },
  );
};

/** Answers 404 for a name that no public origin can have, as for a host that was never scanned. */
function requestedHost(host: string, parts: RouteContext): string {
  try {
    return requestedOrigin(host, parts).host;
  } catch (error) {
    if (!(error instanceof OriginRefused) || error.reason !== 'special_use_name') throw error;
    throw new UnknownProject('This name');
  }
}

const nullableText = (description: string) =>
  Type.Unsafe<string | null>({ type: ['string', 'null'], description });

export const gradeSchema = oneOf(ALL_GRADES);

export const scoreSchema = Type.Integer({ minimum: 0, maximum: 100 });

export const instantSchema = Type.String({ format: 'date-time', description: 'ISO 8601, UTC.' });

const signalsSchema = Type.Object({
  registeredIndex: Type.Boolean({ description: 'Registered in a public x402 resource index.' }),
  hasRecentSettlement: Type.Unsafe<true | null>({
    type: ['boolean', 'null'],
    description: 'Recent settlement observed on chain; null is not observed, and proves nothing.',
  }),
  indexOwnershipVerified: Type.Boolean({ description: 'Ownership verified in that index.' }),
  onEcosystemListing: Type.Boolean({ description: "On the protocol's public ecosystem listing." }),
});

/** Members of a directory record (interface spec 2.3). */
export const projectProperties = {
  host: Type.String(),
  displayName: Type.String({ description: 'Unverified text copied from the origin.' }),
  description: Type.String({ description: 'Unverified text copied from the origin.' }),
  category: oneOf<string>(CATEGORIES),
  iconUrl: nullableText('Unverified link.'),
  ogImageUrl: nullableText('Unverified link.'),
  grade: gradeSchema,
  score: scoreSchema,
  verified: Type.Boolean({ description: 'An owner has proved domain control.' }),
  featured: Type.Boolean({ description: 'Graded A within the last 30 days.' }),
  lastScannedAt: instantSchema,
  signals: signalsSchema,
  reportUrl: Type.String(),
};

export const projectSchema = Type.Object(projectProperties);

/** Stands beside every record or list of records. */
export const noticeProperties = {
  disclaimer: Type.String(),
  provenance: Type.String(),
};
