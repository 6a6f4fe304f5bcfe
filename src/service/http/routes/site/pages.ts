import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import type { FastifyReply } from 'fastify';
import { type Static, Type } from 'typebox';
import { toServiceError } from '../../../../../plugins/error-answers.ts';
import { PREDICATE_PATH } from '../../../../scanner/attestation/statement.ts';
import { explainCheck } from '../../../../scanner/engine/catalog/catalog.ts';
import type { Grade } from '../../../../scanner/model/report.ts';
import { oneOf } from '../../../../scanner/model/shapes.ts';
import { scannerUserAgent } from '../../../../scanner/probe/client/user-agent.ts';
import { DOCUMENT_OFFER } from '../../../config/revision.ts';
import { DISCLAIMER, toProject } from '../../../directory/project.ts';
import { readStatistics, toStatisticsDays } from '../../../directory/statistics.ts';
import type { DirectoryRecord } from '../../../store/directory.ts';
import { describePayableDays } from '../../pages/page-text.ts';
import { toDirectoryParameters, toDirectoryQuery } from '../directory.ts';
import { findOriginOfHost, type RouteContext } from '../route-context.ts';

/** This module is loaded at the first request, because it imports all patches and a Markdown parser. */
const importCheckPage = () => import('../../pages/check-page.ts');

/** Days of the statistics on a check's page: more than the API's default, because one check has fewer results. */
const CHECK_STATISTICS_DAYS = 30;

const params = Type.Object({ id: Type.String({ maxLength: 10 }) });

export const checkRoutes: FastifyPluginAsyncTypebox<RouteContext> = async (
  app,
  { catalog, checks, store, config },
) => {
  const hasStatistics = config.revision.offers.statistics !== undefined;
  app.get(
    '/checks',
    { config: { offer: DOCUMENT_OFFER }, schema: { hide: true } },
    async (_request, reply) =>
      reply.view('checks', (await importCheckPage()).toChecksPage(catalog)),
  );

  app.get(
    '/checks/:id',
    { config: { offer: DOCUMENT_OFFER }, schema: { hide: true, params } },
    async (request, reply) => {
      const id = request.params.id.toUpperCase();
      if (!catalog.checks.some((check) => check.id === id)) {
        const text = `Catalog ${catalog.checksVersion} has no check with this id.`;
        return sendMessage(reply, 404, 'No such check', text);
      }
      const explanation = await explainCheck(id, catalog, checks);
      const category = catalog.categories.find(({ key }) => key === explanation.category);
      const categoryLabel = category?.label ?? '';
      const days = CHECK_STATISTICS_DAYS;
      const allStatistics = hasStatistics ? await readStatistics(store, days, [id]) : null;
      const statistics = allStatistics?.checks[0] ?? null;
      const { toCheckPage } = await importCheckPage();
      return reply.view('check', toCheckPage({ explanation, categoryLabel, statistics, days }));
    },
  );
};

/** Pages that do not change. The scanner's User-Agent links to the first page. */
export const aboutRoutes: FastifyPluginAsyncTypebox<RouteContext> = async (app, { config }) => {
  const { siteUrl, baseUrl, revision } = config;
  function addPage(path: string, template: string, view: Readonly<Record<string, unknown>>) {
    const options = { config: { offer: DOCUMENT_OFFER }, schema: { hide: true } };
    app.get(path, options, async (_request, reply) => reply.view(template, view));
  }
  addPage('/about-scanner', 'about-scanner', {
    title: 'About the scanner',
    summary: 'What the scanner sends to an origin, and what it never does',
    userAgent: scannerUserAgent(`${siteUrl}/about-scanner`),
    hasCensus: revision.showsCensus,
  });
  if (revision.showsCensus) {
    addPage('/about-census', 'about-census', {
      title: 'The census',
      summary: 'What the census of this service requests, how often, and how an origin can opt out',
      userAgent: scannerUserAgent(`${siteUrl}/about-census`),
      // Null if this service runs no census; the page then says so.
      contactEmail: config.census?.contactEmail ?? null,
      postedResources: config.census?.post ?? 'declared',
    });
  }
  if (revision.offers.watch !== undefined) {
    addPage('/about-watch', 'about-watch', {
      title: 'What a watch does',
      summary:
        'What the watch of an origin requests, what it sends to the owner, and what it keeps',
      baseUrl,
    });
  }
  if (revision.offers.attestation !== undefined) {
    // Signed reports name this address as their predicate type.
    addPage(PREDICATE_PATH, 'scan-attestation', {
      title: 'Signed reports',
      summary: 'What the scanner signs about a scan, and how to verify it',
      disclaimer: DISCLAIMER,
    });
  }
};

const GRADE_COLOURS = { A: '#16713b', B: '#16713b', C: '#8a5a00', D: '#8a5a00', F: '#b3261e' };
const UNKNOWN_COLOUR = '#5b6875';
const badgeParams = Type.Object({ file: Type.String({ maxLength: 300 }) });
const badgeQuery = Type.Object({
  show: Type.Optional(
    oneOf(
      ['days'],
      '"days" shows the number of payable days among the checked days of the last 30 days.',
    ),
  ),
});

/** Serves badges such as `/badge/api.example.com.svg`, which other sites embed. */
export const badgeRoute: FastifyPluginAsyncTypebox<RouteContext> = async (app, parts) => {
  const { showsCensus } = parts.config.revision;
  const querystring = Type.Unsafe<Static<typeof badgeQuery>>(
    showsCensus ? badgeQuery : Type.Object({}),
  );
  app.get(
    '/badge/:file',
    { config: { offer: DOCUMENT_OFFER }, schema: { hide: true, params: badgeParams, querystring } },
    async (request, reply) => {
      const origin = findOriginOfHost(request.params.file.replace(/\.svg$/, ''), parts);
      const record = origin === null ? null : await parts.store.directory.get(origin.host);
      const listedRecord = record?.listed === true ? record : null;
      // The module is loaded at the first request, because it has a large table of character widths.
      const { makeBadge } = await import('badge-maker');
      const showsDays = showsCensus && request.query.show === 'days';
      const badgeText = showsDays ? toDaysText(listedRecord) : toGradeText(listedRecord);
      const svg = makeBadge({ label: 'x402', ...badgeText });
      return reply.type('image/svg+xml').header('cache-control', 'public, max-age=300').send(svg);
    },
  );
};

type BadgeText = { readonly message: string; readonly color: string };

function toGradeText(record: DirectoryRecord | null): BadgeText {
  if (record === null) return { message: 'not scanned', color: UNKNOWN_COLOUR };
  return { message: `${record.grade} ${record.score}/100`, color: GRADE_COLOURS[record.grade] };
}

function toDaysText(record: DirectoryRecord | null): BadgeText {
  const { payableDays = 0, checkedDays = 0 } = record?.availability ?? {};
  if (checkedDays === 0) return { message: 'not checked yet', color: UNKNOWN_COLOUR };
  const message = describePayableDays({ payableDays, checkedDays });
  return { message, color: GRADE_COLOURS[toColourGrade(payableDays / checkedDays)] };
}

/** Returns the grade whose colour shows a share of payable days. "A" has the limit of the filter `payable=week`. */
function toColourGrade(share: number): Grade {
  if (share >= 6 / 7) return 'A';
  return share >= 1 / 2 ? 'C' : 'F';
}

const statisticsQuery = Type.Object({ days: Type.Optional(Type.String({ maxLength: 3 })) });

/** Serves the page with the data of `/v1/statistics`, in revisions that have it. */
export const statisticsPageRoute: FastifyPluginAsyncTypebox<RouteContext> = async (
  app,
  { store, catalog },
) => {
  const ids = catalog.checks.map(({ id }) => id);
  app.offer('statistics', {
    method: 'GET',
    url: '/statistics',
    config: { bucket: '/v1/statistics' },
    schema: { hide: true, querystring: statisticsQuery },
    async handler({ query }, reply) {
      const statistics = await readStatistics(store, toStatisticsDays(query.days), ids);
      // The module is loaded at the first request, because it imports the names of networks.
      const { toStatisticsPage } = await import('../../pages/statistics-page.ts');
      return reply.view('statistics', toStatisticsPage(statistics, catalog.checks));
    },
  });
};

/** Sends a page with a message instead of the requested page. */
export function sendMessage(reply: FastifyReply, status: number, heading: string, text: string) {
  return reply.code(status).view('message', { title: heading, summary: text, heading, text });
}

const ROWS_PER_PAGE = 30;

/** Serves the directory as a page, with the filters of `/v1/directory`. */
export const browseRoute: FastifyPluginAsyncTypebox<RouteContext> = async (
  app,
  { store, config },
) => {
  const { revision, siteUrl } = config;
  const { showsPayers, showsCensus } = revision;
  const feedUrl = revision.offers.feed === undefined ? null : `${siteUrl}/directory.atom`;
  app.offer('directory', {
    method: 'GET',
    url: '/directory',
    config: { bucket: '/v1/directory' },
    schema: { hide: true, querystring: toDirectoryParameters(revision) },
    errorHandler: async (error, request, reply) => {
      const { status, message } = toServiceError(error, request);
      if (status !== 400) throw error;
      const advice = `${message} Open /directory for the whole list.`;
      return sendMessage(reply, status, 'The directory has no such filter', advice);
    },
    async handler(request, reply) {
      const { q = '', ...filters } = request.query;
      const parameters = { ...filters, q: q.trim(), pageSize: String(ROWS_PER_PAGE) };
      const query = toDirectoryQuery(parameters, revision);
      const { count, records } = await store.directory.list(query);
      const nowMs = store.now();
      const projects = records.map((record) => toProject(record, config, nowMs));
      // The module is loaded at the first request, because it imports the names of networks.
      const { toDirectoryPage } = await import('../../pages/directory-page.ts');
      const input = { query, count, projects, showsPayers, showsCensus, feedUrl };
      return reply.view('directory', toDirectoryPage(input));
    },
  });
};
