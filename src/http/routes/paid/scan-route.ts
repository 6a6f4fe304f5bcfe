import type { PaidOffer } from '../../../config/revision.ts';
import {
  findFreshReport,
  type ReportPresentation,
  toReportBody,
} from '../../../directory/published-report.ts';
import type { Origin } from '../../../guard/origin.ts';
import type { PaidRoute } from '../../../payment/paid-route.ts';
import { type FinishedScan, fromStoredReport } from '../../../scan/finished-scan.ts';
import type { ScanCoordinator } from '../../../scan/scan-coordinator.ts';
import type { StoredRecording } from '../../../store/results.ts';
import { JSON_HEADERS } from '../error-schema.ts';
import { reportExample } from '../report-schema.ts';
import type { RouteContext } from '../route-context.ts';
import { requestedOrigin } from '../url-parameter.ts';

export type SellingOptions = Pick<RouteContext, 'config' | 'store' | 'scanCoordinator'>;

/** A payer may pay for a finished scan for ten minutes after it, and a scan takes up to two. */
const WAITING_MS = 12 * 60_000;
const MIN_VALIDITY_MS = 90_000;

/** `POST /v1/scan`: runs all checks, or answers with the scan that this payer's last call left unpaid. */
export function scanRoute(options: SellingOptions, offer: PaidOffer): PaidRoute<ScanInput> {
  const { config, store, scanCoordinator } = options;
  const { revision, siteUrl } = config;
  const saysCharged = revision.reportSaysCharged;
  // Whoever gets the answer has paid for it, also if the census has published this scan.
  const paidBy = revision.showsCensus ? 'payer' : null;
  const { answer, isWhole } = scanAnswers(scanCoordinator, { siteUrl, saysCharged, paidBy });

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
        properties: {
          url: { type: 'string', description: 'Origin to scan.' },
          include: INCLUDE_SCHEMA,
        },
        required: ['url'],
      },
      output: reportExample('miss'),
    },
    isPublic: revision.offers.report?.kind === 'free',
    workLimit: {
      maxRunning: scanCoordinator.maxScans,
      isShared: async (input, payer) =>
        scanCoordinator.join(input.origin) !== null ||
        (await findWaiting(store, payer, input)) !== null,
      isFinished: async (input, payer) => (await findWaiting(store, payer, input)) !== null,
    },

    parse({ body }) {
      const { url, include = [] } = body as { url: string; include?: readonly string[] }; // validated by the route's schema
      const withRecording = include.includes('recording');
      return { origin: requestedOrigin(url, options), submittedUrl: url, withRecording };
    },
    admit: ({ origin }) => scanCoordinator.admit(origin),
    toCanonicalText: ({ origin, withRecording }) =>
      withRecording ? `${origin.host} recording` : origin.host,
    toHost: ({ origin }) => origin.host,
    isSaturated: (input) =>
      scanCoordinator.isSaturated() &&
      (input === undefined || scanCoordinator.join(input.origin) === null),
    publish: (scanId) => scanCoordinator.publish(scanId),

    async compute(input, { payer, earlierScanId, onScan }) {
      const { origin, submittedUrl, withRecording } = input;
      // The running scan is looked up first: it could end while the store is read.
      const running = scanCoordinator.join(origin, { onScan, withRecording });
      const finishedBefore = () => findWaiting(store, payer, input, earlierScanId);
      const waiting = await finishedBefore();
      if (waiting !== null) {
        return { ...(await answer(waiting, 'hit', input)), scanId: waiting.scanId };
      }
      if (running === null && revision.scanServesPublished) {
        const published = await findFreshReport(store, origin.host);
        const isSame = published?.origin === origin.url;
        if (isSame && (await isWhole(published, input))) return answer(published, 'hit', input);
      }
      const runOptions = { submittedUrl, onScan, withRecording, finishedBefore };
      const run = () => scanCoordinator.run(origin, runOptions);
      const joined = await (running ?? run());
      // The joined scan may run on another instance, where nobody asked for its recording.
      const finished = (await isWhole(joined, input)) ? joined : await run();
      return { ...(await answer(finished, 'miss', input)), scanId: finished.scanId };
    },
  };
}

/**
 * A finished scan that this payer ordered and did not get, with its recording if that is asked for.
 * Other payers get a fresh scan.
 */
async function findWaiting(
  store: RouteContext['store'],
  payer: string,
  { origin, withRecording }: ScanInput,
  earlierScanId?: string,
): Promise<FinishedScan | null> {
  const sinceMs = store.now() - WAITING_MS;
  const left = await store.results.findUnpaid(payer, sinceMs);
  const ofHost = left.filter(({ host }) => host === origin.host).map(({ scanId }) => scanId);
  for (const scanId of [...(earlierScanId === undefined ? [] : [earlierScanId]), ...ofHost]) {
    const result = await store.results.findByScan(scanId);
    if (result === null || result.scannedAtMs < sinceMs) continue;
    if (withRecording && (await store.results.findRecording(scanId)) === null) continue;
    const finished = fromStoredReport(result);
    if (finished.origin === origin.url) return finished;
  }
  return null;
}

export type ScanInput = {
  readonly origin: Origin;
  readonly submittedUrl: string;
  readonly withRecording: boolean;
};

const NOT_KEPT = 'No recording of this scan was kept. Ask for another scan with it.';
const TOO_LARGE =
  'The recording has over 4 MiB. x402-scan scan ORIGIN --save FILE makes one on your machine.';

/** Answers about finished scans, with their recordings if those are asked for. */
export function scanAnswers(
  scanCoordinator: Pick<ScanCoordinator, 'findRecording'>,
  presentation: Omit<ReportPresentation, 'cache'>,
) {
  return {
    async answer(
      scan: FinishedScan,
      cache: ReportPresentation['cache'],
      { withRecording }: ScanInput,
    ) {
      const report = JSON.stringify(toReportBody(scan, { ...presentation, cache }));
      const recording = withRecording ? await scanCoordinator.findRecording(scan) : null;
      const body = withRecording ? withRecordingMember(report, recording) : report;
      return { headers: JSON_HEADERS, body, reportOf: scan.scanId };
    },

    /** True if the answer would hold all that is asked for. */
    async isWhole(scan: FinishedScan, { withRecording }: ScanInput): Promise<boolean> {
      return !withRecording || (await scanCoordinator.findRecording(scan)) !== null;
    },
  };
}

/** `json` is the text of an object with members. */
function withRecordingMember(json: string, recording: StoredRecording | null): string {
  const reason = recording === null ? NOT_KEPT : TOO_LARGE;
  const member = recording?.text
    ? `"recording":${recording.text}`
    : `"recording":null,"recordingReason":${JSON.stringify(reason)}`;
  return `${json.slice(0, -1)},${member}}`;
}

/** Parts that a caller may ask for beside the report. Short, because clients echo challenges in a header. */
export const INCLUDE_SCHEMA = {
  type: 'array',
  items: { type: 'string', enum: ['recording'] },
  uniqueItems: true,
} as const;
