import { type ReportPresentation, toReportBody } from '../../../directory/report-body.ts';
import type { Origin } from '../../../guard/origin.ts';
import type { FinishedScan, ScanCoordinator } from '../../../scan/scan-coordinator.ts';
import type { KeptRecording } from '../../../store/results.ts';
import { JSON_HEADERS } from '../json-headers.ts';

export type ScanInput = {
  readonly origin: Origin;
  readonly submittedUrl: string;
  readonly withRecording: boolean;
};

const NOT_KEPT = 'No recording of this scan was kept. Ask for another scan with it.';
const TOO_LARGE =
  'The recording has over 4 MiB. x402-scan scan ORIGIN --save FILE makes one on your machine.';

/** Answers about finished scans, with their recordings where those are asked for. */
export function scanAnswers(
  scanCoordinator: Pick<ScanCoordinator, 'recordingOf'>,
  presentation: Omit<ReportPresentation, 'cache'>,
) {
  return {
    async answer(
      scan: FinishedScan,
      cache: ReportPresentation['cache'],
      { withRecording }: ScanInput,
    ) {
      const report = JSON.stringify(toReportBody(scan, { ...presentation, cache }));
      const kept = withRecording ? await scanCoordinator.recordingOf(scan) : null;
      const body = withRecording ? withRecordingMember(report, kept) : report;
      return { headers: JSON_HEADERS, body, reportOf: scan.scanId };
    },

    /** True where the answer would hold all that is asked for. */
    async isWhole(scan: FinishedScan, { withRecording }: ScanInput): Promise<boolean> {
      return !withRecording || (await scanCoordinator.recordingOf(scan)) !== null;
    },
  };
}

/** `json` is the text of an object with members. */
function withRecordingMember(json: string, kept: KeptRecording | null): string {
  const reason = kept === null ? NOT_KEPT : TOO_LARGE;
  const member = kept?.text
    ? `"recording":${kept.text}`
    : `"recording":null,"recordingReason":${JSON.stringify(reason)}`;
  return `${json.slice(0, -1)},${member}}`;
}
