/** Receipts: the headers by which an answer says that a payment was settled. */
import type { HttpData } from '../../model/observation.ts';
import { parseJson } from '../json/json.ts';
import { headerValues } from '../text/http-header.ts';
import { challengeOf } from './challenge.ts';

/** Version 2, then version 1. */
const RECEIPTS = ['payment-response', 'x-payment-response'];
const MAX_CHARS = 65_536;

/** The name of the header that holds a receipt, in capitals; null where there is none. */
export function receiptOf(answer: HttpData): string | null {
  const name = RECEIPTS.find((one) => headerValues(answer, one).some(isReceipt));
  return name?.toUpperCase() ?? null;
}

/** Some filters put a challenge there while their facilitator is away: it settles nothing. */
function isReceipt(value: string): boolean {
  const json = parseJson(Buffer.from(value.slice(0, MAX_CHARS), 'base64').toString('utf8'));
  const challenge = json.ok ? challengeOf(json.value, 'header') : null;
  return challenge === null || challenge.offers.length === 0;
}
