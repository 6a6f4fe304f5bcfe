import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { type Static, Type } from 'typebox';
import type { Revision } from '../../config/revision.ts';
import {
  DISCLAIMER,
  featuredQuery,
  PROVENANCE,
  type Project,
  toProject,
} from '../../directory/project.ts';
import { OriginRefused } from '../../guard/errors.ts';
import { PAYABLE_FILTERS } from '../../model/availability.ts';
import { UnknownProject } from '../../model/errors.ts';
import { CATEGORIES } from '../../model/report.ts';
import { oneOf } from '../../model/shapes.ts';
import type { DirectoryQuery } from '../../store/context.ts';
import { errorResponses, STORE_ERRORS, URL_ERRORS } from './error-schema.ts';
import { noticeProperties, projectPropertiesOf } from './record-schema.ts';
import type { RouteContext } from './route-context.ts';
import { DOCUMENTED_URL, requestedOrigin } from './url-parameter.ts';

const DEFAULT_PAGE_SIZE = 50;
/** `/v1/featured` has no pages, so its answer is capped. */
const MAX_FEATURED = 1_000;

const queryProperties = {
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
};

const payable = Type.Optional(
  oneOf(
    PAYABLE_FILTERS,
    '"today" (the newest word of the last 36 hours is payable) or "week" (of the last 7 days at least 3 were checked, and at least 6 in 7 of those were payable).',
    { example: 'today' },
  ),
);

const censusQuery = Type.Object({ ...queryProperties, payable });
type DirectoryParameters = Static<typeof censusQuery>;

/** The texts and parameters of the list in this revision. */
function listSchemaOf({ showsCensus }: Revision) {
  if (!showsCensus) {
    const querystring = Type.Unsafe<DirectoryParameters>(Type.Object(queryProperties));
    return { summary: 'Scanned origins, page by page', querystring };
  }
  return {
    summary:
      'Scanned origins and their availability, page by page; payable=today or week lists those that can be paid',
    description:
      'Scanned origins, page by page. A record has the availability that the daily census found, if it looked at the host; payable=today or payable=week lists those that it found payable.',
    querystring: Type.Unsafe<DirectoryParameters>(censusQuery),
  };
}

type Notices = { readonly disclaimer: string; readonly provenance: string };

const projectsOf = (revision: Revision) =>
  Type.Array(Type.Unsafe<Project>(Type.Object(projectPropertiesOf(revision))));

const listErrors = errorResponses('invalid_parameter', ...STORE_ERRORS);

export const directoryRoutes: FastifyPluginAsyncTypebox<RouteContext> = async (app, parts) => {
  await app.register(listRoute, parts);
  await app.register(featuredRoute, parts);
  await app.register(projectRoute, parts);
};

const listRoute: FastifyPluginAsyncTypebox<RouteContext> = async (app, { store, config }) => {
  const { siteUrl, revision } = config;
  const { showsCensus } = revision;
  const offer = revision.offers.directory;
  if (offer === undefined) return;
  app.get(
    '/v1/directory',
    {
      config: { offer },
      schema: {
        operationId: 'directory',
        tags: ['directory'],
        ...listSchemaOf(revision),
        response: {
          200: Type.Object({
            count: Type.Integer({ description: 'All matches, not only those of this page.' }),
            page: Type.Integer(),
            pageSize: Type.Integer(),
            ...noticeProperties,
            projects: projectsOf(revision),
          }),
          ...listErrors,
        },
      },
    },
    async (request) => {
      const wanted = wantedOf(request.query, revision);
      const { page, pageSize } = wanted;
      const nowMs = store.now();
      const { count, records } = await store.directory.list(wanted);
      const form = { siteUrl, showsCensus };
      const projects = records.map((record) => toProject(record, form, nowMs));
      return { count, page, pageSize, disclaimer: DISCLAIMER, provenance: PROVENANCE, projects };
    },
  );
};

function wantedOf(query: DirectoryParameters, { showsCensus }: Revision): DirectoryQuery {
  return {
    sort: query.sort ?? 'recent',
    category: query.category,
    verified: query.verified === 'true' ? true : undefined,
    q: query.q,
    // Other revisions ignore it, as they do every unknown parameter.
    payable: showsCensus ? query.payable : undefined,
    page: Number(query.page ?? 0),
    pageSize: Number(query.pageSize ?? DEFAULT_PAGE_SIZE),
  };
}

const featuredRoute: FastifyPluginAsyncTypebox<RouteContext> = async (app, { store, config }) => {
  const { siteUrl, revision } = config;
  const { showsCensus } = revision;
  const offer = revision.offers.featured;
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
            projects: projectsOf(revision),
          }),
          ...listErrors,
        },
      },
    },
    async () => {
      const nowMs = store.now();
      const featured = featuredQuery(nowMs, MAX_FEATURED);
      const { count, records } = await store.directory.list(featured);
      const form = { siteUrl, showsCensus };
      const projects = records.map((record) => toProject(record, form, nowMs));
      return { count, disclaimer: DISCLAIMER, provenance: PROVENANCE, projects };
    },
  );
};

const projectRoute: FastifyPluginAsyncTypebox<RouteContext> = async (app, parts) => {
  const { store, config } = parts;
  const { siteUrl, revision } = config;
  const { showsCensus } = revision;
  const offer = revision.offers.project;
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
          200: Type.Unsafe<Project & Notices>(
            Type.Object({ ...projectPropertiesOf(revision), ...noticeProperties }),
          ),
          ...errorResponses(...URL_ERRORS, 'unknown_project'),
        },
      },
    },
    async ({ query }) => {
      const host = requestedHost(query.host, parts);
      const record = await store.directory.get(host);
      if (record === null || !record.listed) throw new UnknownProject(host);
      const project = toProject(record, { siteUrl, showsCensus }, store.now());
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
