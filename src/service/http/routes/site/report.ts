import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import { formatPrice } from '../../../../../plugins/offers.ts';
import { DOCUMENT_OFFER } from '../../../config/revision.ts';
import { toFeedUrl } from '../../../directory/feeds.ts';
import { isFresh } from '../../../directory/project.ts';
import { findFreshReport, toGradeSummary } from '../../../directory/published-report.ts';
import { type FinishedScan, fromStoredReport } from '../../../scans/finished-scan.ts';
import type { DirectoryRecord, HistoryRow } from '../../../store/directory.ts';
import type { Store } from '../../../store/store.ts';
import type { DayScan } from '../../pages/report-page.ts';
import { findOriginOfHost, type RouteContext } from '../route-context.ts';
import { sendMessage } from './pages.ts';

/** A page that is larger is rendered again in brief. A report can be large, because it quotes texts of the seller. */
const MAX_PAGE_BYTES = 58 * 1_024;
const MAX_HISTORY_ROWS = 30;
/** Limit of the scans whose checks the page shows side by side. */
const MAX_DAY_SCANS = 4;

/** This module is loaded at the first request, because it imports all patches. */
const importReportPage = () => import('../../pages/report-page.ts');

const params = Type.Object({ host: Type.String({ maxLength: 300 }) });
const querystring = Type.Object({ stack: Type.Optional(Type.String({ maxLength: 20 })) });

export const reportRoute: FastifyPluginAsyncTypebox<RouteContext> = async (app, parts) => {
  const { store, config, catalog, checks } = parts;
  const { baseUrl, siteUrl, revision } = config;
  // A revision that sells reports shows no findings on this free page.
  const reportIsFree = revision.offers.report?.kind === 'free';
  const scanPrice = formatPrice(revision.offers.scan);

  app.get(
    '/o/:host',
    { config: { offer: DOCUMENT_OFFER }, schema: { hide: true, params, querystring } },
    async (request, reply) => {
      const origin = findOriginOfHost(request.params.host, parts);
      if (origin === null) {
        const advice = 'Give a public host name, such as api.example.com.';
        return sendMessage(reply, 404, 'No such host', advice);
      }
      const record = await store.directory.get(origin.host);
      if (record?.listed === false) {
        const reason = 'The owner of this origin keeps it out of the directory.';
        return sendMessage(reply, 404, 'Not listed', reason);
      }
      const nowMs = store.now();
      // Summary and sub-scores come from one row, because a scan could be published between two reads.
      const summary = toGradeSummary(record, origin, { siteUrl, nowMs });
      const [history, gradeCounts, freshReport] = await Promise.all([
        store.history.list(origin.host, MAX_HISTORY_ROWS),
        store.directory.countByGrade(),
        reportIsFree ? findFreshReport(store, origin.host) : null,
      ]);
      const dayScans = freshReport === null ? [] : await readDayScans(store, history, freshReport);
      const { toReportPage } = await importReportPage();
      const input = {
        host: origin.host,
        // A host in SCAN_ALLOW_HOSTS may use http. Only the report knows its scheme.
        summary: freshReport === null ? summary : { ...summary, origin: freshReport.report.origin },
        subScores: record?.subScores ?? null,
        checksVersion: record?.checksVersion ?? null,
        report: freshReport?.report ?? null,
        dayScans,
        stack: request.query.stack ?? null,
        history,
        gradeCounts,
        catalog,
        checks,
        baseUrl,
        siteUrl,
        scanPrice,
        reportIsFree,
        ...toCensusFacts(record, config),
        nowMs,
      };
      const hasFeed = record !== null && revision.offers.feed !== undefined;
      const links = {
        category: record?.branding.category ?? null,
        feed: hasFeed ? toFeedUrl(siteUrl, record.host) : null,
        proof: toProofUrl(freshReport, config),
        hasWatch: revision.offers.watch !== undefined,
      };
      const render = (isBrief: boolean) =>
        reply.viewAsync('report', { ...toReportPage({ ...input, isBrief }), ...links });
      const html = await render(false);
      reply.type('text/html; charset=utf-8');
      return Buffer.byteLength(html) > MAX_PAGE_BYTES ? render(true) : html;
    },
  );
};

function toCensusFacts(
  record: DirectoryRecord | null,
  { revision }: Pick<RouteContext['config'], 'revision'>,
) {
  if (record === null || !revision.showsCensus) return { availability: null, isOfCensus: false };
  return { availability: record.availability, isOfCensus: record.paidBy === 'census' };
}

/** Returns the URL of the signed report; null if no signed report exists. */
function toProofUrl(
  scan: FinishedScan | null,
  { baseUrl, revision }: RouteContext['config'],
): string | null {
  if (scan === null || scan.observationsSha256 === null) return null;
  if (revision.offers.attestation === undefined) return null;
  return `${baseUrl}/v1/attestation?url=${encodeURIComponent(scan.report.origin)}`;
}

/** Reads the published scans of the last 24 hours, newest first. Results of older scans are deleted. */
async function readDayScans(
  store: Store,
  history: readonly HistoryRow[],
  freshReport: FinishedScan,
): Promise<readonly DayScan[]> {
  const nowMs = store.now();
  const rows = history
    .filter(({ scannedAtMs }) => isFresh(scannedAtMs, nowMs))
    .slice(-MAX_DAY_SCANS);
  const scans = await Promise.all(
    rows.toReversed().map(async ({ scanId }) => {
      if (scanId === freshReport.scanId) return freshReport.report;
      const result = await store.results.findByScan(scanId);
      return result === null ? null : fromStoredReport(result).report;
    }),
  );
  return scans.filter((scan) => scan !== null);
}
