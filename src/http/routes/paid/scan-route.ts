import type { PaidOffer } from '../../../config/revision.ts';
import { findFreshReport } from '../../../directory/fresh-report.ts';
import { toReportBody } from '../../../directory/report-body.ts';
import type { Origin } from '../../../guard/origin.ts';
import type { PaidRoute } from '../../../payment/paid-route.ts';
import type { FinishedScan } from '../../../scan/finished-scan.ts';
import { fromStoredReport } from '../../../scan/finished-scan.ts';
import { JSON_HEADERS } from '../json-headers.ts';
import { requestedOrigin } from '../requested-origin.ts';
import type { RouteContext } from '../route-context.ts';
import { reportExample } from './report-example.ts';

export type ScanInput = { readonly origin: Origin; readonly submittedUrl: string };

export type SellingOptions = Pick<RouteContext, 'config' | 'store' | 'scanCoordinator'>;

/** Time in which a payer may still pay for a finished scan: ten minutes, and the scan's own two. */
const WAITING_MS = 12 * 60_000;
const MIN_VALIDITY_MS = 90_000;

/** `POST /v1/scan`: runs all checks, or answers with the scan that this payer's last call left unpaid. */
export function scanRoute(options: SellingOptions, offer: PaidOffer): PaidRoute<ScanInput> {
  const { config, store, scanCoordinator } = options;
  const { revision, siteUrl } = config;
  const saysCharged = revision.reportSaysCharged;
  const answer = (scan: FinishedScan, cache: 'hit' | 'miss') => ({
    headers: JSON_HEADERS,
    body: JSON.stringify(toReportBody(scan, { cache, siteUrl, saysCharged })),
    reportOf: scan.scanId,
  });

  return {
    name: 'scan',
    method: 'POST',
    path: '/v1/scan',
    description: 'Scan an x402 seller origin: grade A to F, evidence and a fix for each check.',
    priceBaseUnits: offer.priceBaseUnits,
    maxTimeoutSeconds: offer.maxTimeoutSeconds,
    minValidityMs: MIN_VALIDITY_MS,
    discovery: {
      input: { url: 'https://api.example.com' },
      inputSchema: {
        type: 'object',
        properties: { url: { type: 'string', description: 'Origin to scan.' } },
        required: ['url'],
      },
      output: reportExample('miss'),
    },
    isPublic: revision.offers.report?.kind === 'free',
    workLimit: {
      places: scanCoordinator.maxScans,
      isShared: async ({ origin }, payer) =>
        scanCoordinator.join(origin) !== null || (await findWaiting(store, payer, origin)) !== null,
      isFinished: async ({ origin }, payer) => (await findWaiting(store, payer, origin)) !== null,
    },

    parse({ body }) {
      const { url } = body as { url: string }; // validated by the route's schema
      return { origin: requestedOrigin(url, options), submittedUrl: url };
    },
    admit: ({ origin }) => scanCoordinator.admit(origin),
    canonical: ({ origin }) => origin.host,
    host: ({ origin }) => origin.host,
    isSaturated: (input) =>
      scanCoordinator.isSaturated() &&
      (input === undefined || scanCoordinator.join(input.origin) === null),
    publish: (scanId) => scanCoordinator.publish(scanId),

    async compute({ origin, submittedUrl }, { payer, earlierScanId, onScan }) {
      // The running scan is looked up first: it could end while the store is read.
      const running = scanCoordinator.join(origin, onScan);
      const finishedBefore = () => findWaiting(store, payer, origin, earlierScanId);
      const waiting = await finishedBefore();
      if (waiting !== null) return { ...answer(waiting, 'hit'), scanId: waiting.scanId };
      if (running === null && revision.scanServesPublished) {
        const published = await findFreshReport(store, origin.host);
        if (published?.origin === origin.url) return answer(published, 'hit');
      }
      const run = () => scanCoordinator.run(origin, { submittedUrl, onScan, finishedBefore });
      const finished = await (running ?? run());
      return { ...answer(finished, 'miss'), scanId: finished.scanId };
    },
  };
}

/** A finished scan that this payer ordered and did not get. Other payers get a fresh scan. */
async function findWaiting(
  store: RouteContext['store'],
  payer: string,
  origin: Origin,
  earlierScanId?: string,
): Promise<FinishedScan | null> {
  const sinceMs = store.now() - WAITING_MS;
  const left = await store.results.unpaid(payer, sinceMs);
  const ofHost = left.filter(({ host }) => host === origin.host).map(({ scanId }) => scanId);
  for (const scanId of [...(earlierScanId === undefined ? [] : [earlierScanId]), ...ofHost]) {
    const result = await store.results.byScan(scanId);
    if (result === null || result.scannedAtMs < sinceMs) continue;
    const finished = fromStoredReport(result);
    if (finished.origin === origin.url) return finished;
  }
  return null;
}
