import type { Availability } from '../../model/availability.ts';

export type Requested = {
  /** Canonical: the only value of the seller in a command. */
  readonly origin: string;
  readonly baseUrl: string;
  /** "$0.05" */
  readonly scanPrice: string;
};

export type CopyableRequest = { readonly about: string; readonly command: string };

export function scanRequest({ origin, baseUrl, scanPrice }: Requested): CopyableRequest {
  const body = JSON.stringify({ url: origin });
  return {
    about: `A fresh scan, ${scanPrice} over x402 (answers 402 with the challenge; any x402 client pays it):`,
    command: `curl -X POST '${baseUrl}/v1/scan' -H 'content-type: application/json' -d '${body}'`,
  };
}

/** The same checks on the reader's own machine. */
export function localScan({ origin }: Pick<Requested, 'origin'>): CopyableRequest {
  return {
    about: 'The same 25 checks on your machine, for nothing:',
    command: `npx x402-scan scan ${origin}`,
  };
}

/** Status, report and scan of one origin (interface spec 2.2). */
export function copyableRequests(
  requested: Requested & { readonly reportIsFree: boolean },
): readonly CopyableRequest[] {
  const { origin, baseUrl, reportIsFree } = requested;
  const url = encodeURIComponent(origin);
  return [
    { about: 'The grade, free:', command: `curl '${baseUrl}/v1/status?url=${url}'` },
    {
      about: `The findings of the last 24 hours, ${reportIsFree ? 'free' : 'paid over x402'}:`,
      command: `curl '${baseUrl}/v1/report?url=${url}'`,
    },
    scanRequest(requested),
  ];
}

/** "payable 29 of 30 days", of those that were checked. */
export function payableOf({
  payableDays,
  checkedDays,
}: Pick<Availability, 'payableDays' | 'checkedDays'>): string {
  return `payable ${payableDays} of ${checkedDays} ${checkedDays === 1 ? 'day' : 'days'}`;
}

const ESCAPED_BYTES = 6;
const WIDE_BYTES = 4;

/** Keeps a page small: at most so many bytes as escaped markup. The report of the API has the whole text. */
export function cutText(text: string, maxBytes: number): string {
  let bytes = 0;
  let end = 0;
  for (const character of text) {
    bytes += bytesOf(character);
    if (bytes > maxBytes) return `${text.slice(0, end)}…`;
    end += character.length;
  }
  return text;
}

function bytesOf(character: string): number {
  if ('<>&"\''.includes(character)) return ESCAPED_BYTES;
  return character > '\u007f' ? WIDE_BYTES : 1;
}
