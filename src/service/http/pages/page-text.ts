import type { Availability } from '../../../scanner/model/payability.ts';

export type RequestValues = {
  /** In canonical form, because shell commands contain the origin. Their other values do not come from the seller. */
  readonly origin: string;
  readonly baseUrl: string;
  /** "$0.05" */
  readonly scanPrice: string;
};

type CopyableRequest = { readonly about: string; readonly command: string };

export function toScanRequest({ origin, baseUrl, scanPrice }: RequestValues): CopyableRequest {
  const body = JSON.stringify({ url: origin });
  return {
    about: `A fresh scan, ${scanPrice} over x402 (without a payment, this answers 402 with the challenge, which any x402 client can pay):`,
    command: `curl -X POST '${baseUrl}/v1/scan' -H 'content-type: application/json' -d '${body}'`,
  };
}

/** A command that runs the same checks on the reader's machine. */
export function toLocalScan({ origin }: Pick<RequestValues, 'origin'>): CopyableRequest {
  return {
    about: 'The same 25 checks on your own machine, free of charge:',
    command: `npx x402-scan scan ${origin}`,
  };
}

export function listCopyableRequests(
  values: RequestValues & { readonly reportIsFree: boolean },
): readonly CopyableRequest[] {
  const { origin, baseUrl, reportIsFree } = values;
  const url = encodeURIComponent(origin);
  return [
    { about: 'The grade, free:', command: `curl '${baseUrl}/v1/status?url=${url}'` },
    {
      about: `The findings of the last 24 hours, ${reportIsFree ? 'free' : 'paid over x402'}:`,
      command: `curl '${baseUrl}/v1/report?url=${url}'`,
    },
    toScanRequest(values),
  ];
}

/** "payable 29 of 30 days". Days on which the census did not check the origin are not counted. */
export function describePayableDays({
  payableDays,
  checkedDays,
}: Pick<Availability, 'payableDays' | 'checkedDays'>): string {
  return `payable ${payableDays} of ${checkedDays} ${checkedDays === 1 ? 'day' : 'days'}`;
}

/** Sizes of the longest escape, such as `&quot;`, and of the longest character outside ASCII. */
const MAX_ESCAPED_BYTES = 6;
const MAX_UTF8_BYTES = 4;

/** Cuts a text to at most `maxBytes` of escaped markup, to keep pages small. The API's report has the whole text. */
export function cutText(text: string, maxBytes: number): string {
  let bytes = 0;
  let end = 0;
  for (const character of text) {
    bytes += countBytes(character);
    if (bytes > maxBytes) return `${text.slice(0, end)}…`;
    end += character.length;
  }
  return text;
}

const MAX_CELL_BYTES = 140;

/** Cuts the text of a cell of a report's tables. */
export function cutCell(text: string): string {
  return cutText(text, MAX_CELL_BYTES);
}

function countBytes(character: string): number {
  if ('<>&"\''.includes(character)) return MAX_ESCAPED_BYTES;
  return character > '\u007f' ? MAX_UTF8_BYTES : 1;
}
