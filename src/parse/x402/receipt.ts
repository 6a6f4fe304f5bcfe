import type { HttpData } from '../../model/observation.ts';
import { parseJson } from '../json/json.ts';
import { headerValues } from '../text/http-header.ts';
import { parseChallenge } from './challenge.ts';

/** The headers of versions 2 and 1. */
const RECEIPT_HEADERS = ['payment-response', 'x-payment-response'];
const MAX_HEADER_CHARS = 65_536;

/** Returns the name of the receipt header in capitals; null if the answer has no receipt. */
export function findReceiptHeader(answer: HttpData): string | null {
  const name = RECEIPT_HEADERS.find((header) => headerValues(answer, header).some(isReceipt));
  return name?.toUpperCase() ?? null;
}

/** Some middleware puts a challenge into this header while the facilitator is down. A challenge is not a receipt. */
function isReceipt(value: string): boolean {
  const json = parseJson(Buffer.from(value.slice(0, MAX_HEADER_CHARS), 'base64').toString('utf8'));
  const challenge = json.ok ? parseChallenge(json.value, 'header') : null;
  return challenge === null || challenge.offers.length === 0;
}
