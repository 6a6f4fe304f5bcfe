import type { HttpData } from '../../model/observation.ts';
import { parseJson } from '../json/json.ts';
import { headerValues } from '../text/http-header.ts';
import { parseChallenge } from './challenge.ts';

/** Version 2, then version 1. */
const RECEIPTS = ['payment-response', 'x-payment-response'];
const MAX_CHARS = 65_536;

/** Returns the name of the receipt header, in capitals; null when there is none. */
export function findReceiptHeader(answer: HttpData): string | null {
  const name = RECEIPTS.find((one) => headerValues(answer, one).some(isReceipt));
  return name?.toUpperCase() ?? null;
}

/** Some middleware puts a challenge there while its facilitator is down, which settles nothing. */
function isReceipt(value: string): boolean {
  const json = parseJson(Buffer.from(value.slice(0, MAX_CHARS), 'base64').toString('utf8'));
  const challenge = json.ok ? parseChallenge(json.value, 'header') : null;
  return challenge === null || challenge.offers.length === 0;
}
