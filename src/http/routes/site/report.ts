/** The page of one origin. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { DOCUMENT_OFFER } from '../../../config/revision.ts';
import { findFreshReport } from '../../../directory/fresh-report.ts';
import { isFresh } from '../../../directory/freshness.ts';
import { gradeSummary } from '../../../directory/grade-summary.ts';
import { Type } from '../../../model/schema.ts';
import type { DirectoryRecord } from '../../../store/contract/directory.ts';
import { KeptPages } from '../../kept-pages.ts';
import { sentencesOf } from '../../pages/report-findings.ts';
import { reportPage } from '../../pages/report-page.ts';
import type { RouteContext } from '../route-context.ts';
import { originOfHost, priceText, sendMessage } from './page.ts';

const HISTORY_POINTS = 60;
/** A picture of all origins may be a minute old; counting them for each reader would cost by their number. */
const COUNTS_MS = 60_000;
const params = Type.Object({ host: Type.String({ maxLength: 300 }) });

export const reportRoute: FastifyPluginAsyncTypebox<RouteContext> = async (app, parts) => {
  const { store, config, catalog, checks } = parts;
  const { baseUrl, siteUrl, revision } = config;
  // Where a report is sold, its findings are not on a free page.
  const reportIsFree = revision.offers.report?.kind === 'free';
  const kept = new KeptPages();
  const scanPrice = priceText(revision.offers.scan);
  const readGradeCounts = keptWhile(COUNTS_MS, store.now, () => store.directory.grades());
  const says = sentencesOf(catalog, checks);
  const head = app.prepareHead(200, { 'content-type': 'text/html; charset=utf-8' });

  app.get(
    '/o/:host',
    { config: { offer: DOCUMENT_OFFER }, schema: { hide: true, params } },
    async (request, reply) => {
      const origin = originOfHost(request.params.host, parts);
      if (origin === null) {
        const advice = 'Give a public host name, such as api.example.com.';
        return sendMessage(reply, 404, 'No such host', advice);
      }
      const record = await store.directory.get(origin.host);
      if (record?.listed === false) {
        const why = 'The owner of this origin keeps it out of the directory.';
        return sendMessage(reply, 404, 'Not listed', why);
      }
      const { preferences } = await store.directory.versions();
      const nowMs = store.now();
      const version = record === null ? null : versionOf(record, preferences, nowMs);
      const known = version === null ? null : kept.get(origin.url, { version, nowMs });
      if (known !== null) return reply.sendPrepared(head, known);
      // All of one row: a scan that is published meanwhile has other sub-scores, too.
      const summary = gradeSummary(record, origin, { siteUrl, nowMs });
      const [history, gradeCounts, fresh] = await Promise.all([
        store.history.list(origin.host, HISTORY_POINTS),
        readGradeCounts(preferences),
        reportIsFree ? findFreshReport(store, origin.host) : null,
      ]);
      const view = reportPage({
        host: origin.host,
        // A host that is an exception may be http; its own report knows.
        summary: fresh === null ? summary : { ...summary, origin: fresh.origin },
        subScores: record?.subScores ?? null,
        checksVersion: record?.checksVersion ?? null,
        report: fresh?.report ?? null,
        history,
        gradeCounts,
        catalog,
        says,
        baseUrl,
        siteUrl,
        scanPrice,
        reportIsFree,
      });
      const page = Buffer.from(await app.view('report', view));
      if (version !== null) {
        kept.keep(origin.url, page, { version, nowMs, untilMs: nowMs + COUNTS_MS });
      }
      return reply.sendPrepared(head, page);
    },
  );
};

/** What `read` resolved with, for so long and under one version; a rejection is not kept. */
function keptWhile<T>(
  ms: number,
  now: () => number,
  read: () => Promise<T>,
): (version: string) => Promise<T> {
  let kept: { readonly atMs: number; readonly version: string; readonly value: T } | null = null;
  return async (version) => {
    const nowMs = now();
    if (kept?.version === version && nowMs - kept.atMs < ms) return kept.value;
    const value = await read();
    kept = { atMs: nowMs, version, value };
    return value;
  };
}

/** Another one with each scan of the host, any owner's wish, and once the scan is a day old. */
function versionOf(record: DirectoryRecord, preferences: string, nowMs: number): string {
  const { scanId, scanCount, verified, scannedAtMs } = record;
  const isStale = !isFresh(scannedAtMs, nowMs);
  return JSON.stringify([scanId, scanCount, verified, preferences, isStale]);
}
