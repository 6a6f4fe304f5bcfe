import type { Origin } from '../../../../scanner/guard/origin.ts';
import type { PaidOffer } from '../../../config/revision.ts';
import {
  findFreshReport,
  type ReportPresentation,
  toReportBody,
} from '../../../directory/published-report.ts';
import type { PaidRoute } from '../../../payment/paid-route.ts';
import { type FinishedScan, fromStoredReport } from '../../../scans/finished-scan.ts';
import type { ScanCoordinator } from '../../../scans/scan-coordinator.ts';
import type { StoredRecording } from '../../../store/results.ts';
import { JSON_HEADERS, toReportExample } from '../answer-schema.ts';
import { parseRequestedOrigin, type RouteContext } from '../route-context.ts';

export type SellingOptions = Pick<RouteContext, 'config' | 'store' | 'scanCoordinator'>;

/** A scan takes up to two minutes. Its payer may pay until ten minutes after the end of the scan. */
const UNPAID_SCAN_LIFETIME_MS = 12 * 60_000;
/** The signature must outlast the scan, 70 s unless another scan comes first, and the settlement. */
const MIN_VALIDITY_MS = 90_000;

/** `POST /v1/scan` runs all checks, or answers with a finished scan that this payer ordered but has not paid for. */
export function createScanRoute(options: SellingOptions, offer: PaidOffer): PaidRoute<ScanInput> {
  const { config, store, scanCoordinator } = options;
  const { revision, siteUrl } = config;
  // Each reader of this answer has paid, even if the census ordered the published scan.
  const paidBy = revision.showsCensus ? ('payer' as const) : null;
  const presentation = { siteUrl, saysCharged: revision.reportSaysCharged, paidBy };
  const { toAnswer, isComplete } = createScanAnswers(scanCoordinator, presentation);

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
      output: toReportExample('miss'),
    },
    isPublic: revision.offers.report?.kind === 'free',
    workLimit: {
      maxRunning: scanCoordinator.maxScans,
      isShared: async (input, payer) =>
        scanCoordinator.isRunning(input.origin) ||
        (await findUnpaidScan(store, payer, input)) !== null,
      isFinished: async (input, payer) => (await findUnpaidScan(store, payer, input)) !== null,
    },

    parse({ body }) {
      const { url, include = [] } = body as { url: string; include?: readonly string[] }; // the route's schema has validated it
      const withRecording = include.includes('recording');
      return { origin: parseRequestedOrigin(url, options), submittedUrl: url, withRecording };
    },
    admit: ({ origin }) => scanCoordinator.admit(origin),
    toCanonicalText: ({ origin, withRecording }) =>
      withRecording ? `${origin.host} recording` : origin.host,
    toHost: ({ origin }) => origin.host,
    isSaturated: (input) =>
      scanCoordinator.isSaturated() &&
      (input === undefined || !scanCoordinator.isRunning(input.origin)),
    publish: (scanId) => scanCoordinator.publish(scanId),

    async compute(input, { payer, earlierScanId, onScan }) {
      const { origin, submittedUrl, withRecording } = input;
      // Joined before the store is read, because the scan could end meanwhile. The scan stays free until `join` below.
      const runningScan = scanCoordinator.join(origin, { withRecording, isFree: true });
      const findUnpaid = () => findUnpaidScan(store, payer, input, earlierScanId);
      const unpaidScan = await findUnpaid();
      if (unpaidScan !== null) {
        return { ...(await toAnswer(unpaidScan, 'hit', input)), scanId: unpaidScan.scanId };
      }
      if (runningScan === null && revision.scanServesPublished) {
        const report = await findFreshReport(store, origin.host);
        if (report?.report.origin === origin.url && (await isComplete(report, input))) {
          return toAnswer(report, 'hit', input);
        }
      }
      const runOptions = { submittedUrl, onScan, withRecording, findEarlierScan: findUnpaid };
      const run = () => scanCoordinator.run(origin, runOptions);
      // Joins again, now as a payer, unless the scan has ended meanwhile.
      const join = (running: Promise<FinishedScan>) =>
        scanCoordinator.join(origin, { onScan, withRecording }) ??
        announceWhenEnded(running, onScan);
      const firstScan = await (runningScan === null ? run() : join(runningScan));
      // A joined scan may have no recording, if the caller who started the scan did not ask for a recording.
      const scan = (await isComplete(firstScan, input)) ? firstScan : await run();
      return { ...(await toAnswer(scan, 'miss', input)), scanId: scan.scanId };
    },
  };
}

/** Returns a scan that has left the running ones since it was looked up. */
async function announceWhenEnded(
  ending: Promise<FinishedScan>,
  onScan: (scanId: string) => void,
): Promise<FinishedScan> {
  const scan = await ending;
  onScan(scan.scanId);
  return scan;
}

/** Finds a finished scan that this payer has not paid for; if `withRecording` is true, one that has a recording. */
async function findUnpaidScan(
  store: RouteContext['store'],
  payer: string,
  { origin, withRecording }: ScanInput,
  earlierScanId?: string,
): Promise<FinishedScan | null> {
  const sinceMs = store.now() - UNPAID_SCAN_LIFETIME_MS;
  const unpaid = await store.results.findUnpaid(payer, sinceMs);
  const hostScanIds = unpaid.filter(({ host }) => host === origin.host).map(({ scanId }) => scanId);
  const scanIds = earlierScanId === undefined ? hostScanIds : [earlierScanId, ...hostScanIds];
  for (const scanId of scanIds) {
    const result = await store.results.findByScan(scanId);
    if (result === null || result.scannedAtMs < sinceMs) continue;
    if (withRecording && (await store.results.findRecording(scanId)) === null) continue;
    const scan = fromStoredReport(result);
    if (scan.report.origin === origin.url) return scan;
  }
  return null;
}

type ScanInput = {
  readonly origin: Origin;
  readonly submittedUrl: string;
  readonly withRecording: boolean;
};

const RECORDING_NOT_KEPT =
  'The recording of this scan was not kept. Order another scan with its recording.';
const RECORDING_TOO_LARGE =
  'The recording has over 4 MiB. The command x402-scan scan ORIGIN --save FILE makes a recording on your machine.';

/** The answers hold the recording if the input asks for it. */
function createScanAnswers(
  scanCoordinator: Pick<ScanCoordinator, 'provideRecording'>,
  presentation: Omit<ReportPresentation, 'cache'>,
) {
  return {
    async toAnswer(scan: FinishedScan, cache: 'hit' | 'miss', { withRecording }: ScanInput) {
      const report = JSON.stringify(toReportBody(scan, { ...presentation, cache }));
      const recording = withRecording ? await scanCoordinator.provideRecording(scan) : null;
      const body = withRecording ? addRecording(report, recording) : report;
      return { headers: JSON_HEADERS, body, reportOf: scan.scanId };
    },

    /** False if the input asks for a recording, and none was kept. */
    async isComplete(scan: FinishedScan, { withRecording }: ScanInput): Promise<boolean> {
      return !withRecording || (await scanCoordinator.provideRecording(scan)) !== null;
    },
  };
}

/**
 * Adds the recording to `json`, the text of a JSON object that is not empty. `recording` is null if none was kept, and
 * has no text if it was too large.
 */
function addRecording(json: string, recording: StoredRecording | null): string {
  const reason = recording === null ? RECORDING_NOT_KEPT : RECORDING_TOO_LARGE;
  const member = recording?.text
    ? `"recording":${recording.text}`
    : `"recording":null,"recordingReason":${JSON.stringify(reason)}`;
  return `${json.slice(0, -1)},${member}}`;
}

/** Schema of `include`. It is short, because the challenge contains it, and clients send the challenge back. */
export const INCLUDE_SCHEMA = {
  type: 'array',
  items: { type: 'string', enum: ['recording'] },
  uniqueItems: true,
} as const;
