import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { type Static, Type } from 'typebox';
import { OriginRefused } from '../../../scanner/guard/failures.ts';
import { PAYABLE_FILTERS } from '../../../scanner/model/payability.ts';
import { ALL_GRADES, CATEGORIES } from '../../../scanner/model/report.ts';
import { oneOf } from '../../../scanner/model/shapes.ts';
import type { Revision } from '../../config/revision.ts';
import { NOTICES, type Project, toFeaturedQuery, toProject } from '../../directory/project.ts';
import { UnknownProject } from '../../errors/errors.ts';
import type { DirectoryQuery } from '../../store/context.ts';
import {
  errorResponses,
  noticeProperties,
  STORE_ERRORS,
  toProjectProperties,
  URL_ERRORS,
} from './answer-schema.ts';
import { OPENAPI_URL, parseRequestedOrigin, type RouteContext } from './route-context.ts';

const DEFAULT_PAGE_SIZE = 50;
/** This limit keeps the answer of `/v1/featured` small, because that list is not divided into pages. */
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
    oneOf(
      ['true', 'false'],
      '"true" lists only projects with a verified owner; "false" lists all projects.',
      { example: 'false' },
    ),
  ),
  q: Type.Optional(
    Type.String({
      maxLength: 253,
      description:
        'A part of a host, in upper or lower case, without wildcards; at most 253 characters.',
      documented: { example: 'api' },
    }),
  ),
  page: Type.Optional(
    Type.String({
      pattern: '^(0|[1-9][0-9]{0,11})$',
      description: 'Number of the page; 0, the default, is the first page.',
      documented: { example: '0' },
    }),
  ),
  pageSize: Type.Optional(
    Type.String({
      pattern: '^([1-9][0-9]?|100)$',
      description: 'Projects on a page: an integer from 1 to 100, default 50.',
      documented: { example: '50' },
    }),
  ),
};

const payableParameter = Type.Optional(
  oneOf(
    PAYABLE_FILTERS,
    '"today" (the newest census result, at most 36 hours old, is payable) or "week" (at least 3 of the last 7 days were checked, and at least 6 in 7 of the checked days were payable).',
    { example: 'today' },
  ),
);

const gradeParameter = Type.Optional(
  oneOf(ALL_GRADES, 'Only origins with this grade.', { example: 'A' }),
);

const allParameters = Type.Object({
  ...queryProperties,
  grade: gradeParameter,
  payable: payableParameter,
});
type DirectoryParameters = Static<typeof allParameters>;

/** The parameters of a revision. They are also those of the page and the feed of the directory. */
export function toDirectoryParameters({ showsCensus, showsPayers }: Revision) {
  const properties = {
    ...queryProperties,
    ...(showsPayers ? { grade: gradeParameter } : {}),
    ...(showsCensus ? { payable: payableParameter } : {}),
  };
  return Type.Unsafe<DirectoryParameters>(Type.Object(properties));
}

function toListSchema(revision: Revision) {
  const querystring = toDirectoryParameters(revision);
  if (!revision.showsCensus) return { summary: 'Scanned origins, page by page', querystring };
  return {
    summary:
      'Scanned origins and their availability, page by page; payable=today or week lists payable origins',
    description:
      'Scanned origins, page by page. If the daily census checked the host, its record has the availability that the census found. payable=today or payable=week lists only origins that the census found payable.',
    querystring,
  };
}

const toProjectListSchema = (revision: Revision) =>
  Type.Array(Type.Unsafe<Project>(Type.Object(toProjectProperties(revision))));

const listErrors = errorResponses('invalid_parameter', ...STORE_ERRORS);

export const directoryRoutes: FastifyPluginAsyncTypebox<RouteContext> = async (app, parts) => {
  await app.register(listRoute, parts);
  await app.register(featuredRoute, parts);
  await app.register(projectRoute, parts);
};

const listRoute: FastifyPluginAsyncTypebox<RouteContext> = async (app, { store, config }) => {
  const { revision } = config;
  app.offer('directory', {
    method: 'GET',
    url: '/v1/directory',
    schema: {
      tags: ['directory'],
      ...toListSchema(revision),
      response: {
        200: Type.Object({
          count: Type.Integer({ description: 'Number of all matches, on all pages.' }),
          page: Type.Integer(),
          pageSize: Type.Integer(),
          ...noticeProperties,
          projects: toProjectListSchema(revision),
        }),
        ...listErrors,
      },
    },
    async handler(request) {
      const directoryQuery = toDirectoryQuery(request.query, revision);
      const { page, pageSize } = directoryQuery;
      const nowMs = store.now();
      const { count, records } = await store.directory.list(directoryQuery);
      const projects = records.map((record) => toProject(record, config, nowMs));
      return { count, page, pageSize, ...NOTICES, projects };
    },
  });
};

export function toDirectoryQuery(
  query: DirectoryParameters,
  { showsCensus, showsPayers }: Revision,
): DirectoryQuery {
  return {
    sort: query.sort ?? 'recent',
    category: query.category,
    verified: query.verified === 'true' ? true : undefined,
    q: query.q,
    // A revision ignores parameters that it does not have.
    grade: showsPayers ? query.grade : undefined,
    payable: showsCensus ? query.payable : undefined,
    page: Number(query.page ?? 0),
    pageSize: Number(query.pageSize ?? DEFAULT_PAGE_SIZE),
  };
}

const featuredRoute: FastifyPluginAsyncTypebox<RouteContext> = async (app, { store, config }) => {
  app.offer('featured', {
    method: 'GET',
    url: '/v1/featured',
    schema: {
      tags: ['directory'],
      summary: 'Origins graded A within the last 30 days, newest first',
      response: {
        200: Type.Object({
          count: Type.Integer(),
          ...noticeProperties,
          projects: toProjectListSchema(config.revision),
        }),
        ...listErrors,
      },
    },
    async handler() {
      const nowMs = store.now();
      const { count, records } = await store.directory.list(toFeaturedQuery(nowMs, MAX_FEATURED));
      const projects = records.map((record) => toProject(record, config, nowMs));
      return { count, ...NOTICES, projects };
    },
  });
};

const projectRoute: FastifyPluginAsyncTypebox<RouteContext> = async (app, parts) => {
  const { store, config } = parts;
  app.offer('project', {
    method: 'GET',
    url: '/v1/project',
    schema: {
      tags: ['directory'],
      summary: 'The directory record of one origin',
      querystring: Type.Object({
        host: Type.String({
          description: 'A host or URL, such as api.example.com.',
          documented: { ...OPENAPI_URL, example: 'api.example.com' },
        }),
      }),
      response: {
        200: Type.Unsafe<Project & typeof NOTICES>(
          Type.Object({ ...toProjectProperties(config.revision), ...noticeProperties }),
        ),
        ...errorResponses(...URL_ERRORS, 'unknown_project'),
      },
    },
    async handler({ query }) {
      const host = parseRequestedHost(query.host, parts);
      const record = await store.directory.get(host);
      if (record === null || !record.listed) throw new UnknownProject(host);
      const project = toProject(record, config, store.now());
      return { ...project, ...NOTICES };
    },
  });
};

/** A name that no public origin can have is answered 404, like a host that was never scanned. */
function parseRequestedHost(host: string, parts: RouteContext): string {
  try {
    return parseRequestedOrigin(host, parts).host;
  } catch (error) {
    if (!(error instanceof OriginRefused) || error.reason !== 'special_use_name') throw error;
    throw new UnknownProject('This name');
  }
}
