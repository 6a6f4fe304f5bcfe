import { readMembers, tryParseJson } from '../../scanner/model/json.ts';
import type { SellerAnswer, SellerReply } from './seller-client.ts';

/** The settlement header of an answer. */
export type SellerReceipt = {
  readonly success: boolean;
  readonly transaction: string;
  readonly network: string;
  readonly payer: string;
  /** `errorReason` */
  readonly reason: string;
};

const RECEIPT_HEADERS = ['payment-response', 'x-payment-response'];

export function isDelivery(reply: SellerReply): reply is SellerAnswer {
  return reply.ok && reply.status >= 200 && reply.status < 300;
}

/** Returns null if the header is missing or cannot be decoded. */
export function readReceipt({ headers }: SellerAnswer): SellerReceipt | null {
  const encoded = RECEIPT_HEADERS.map((name) => headers[name]).find((value) => value !== undefined);
  if (encoded === undefined) return null;
  const value = parseJsonBody(Buffer.from(encoded, 'base64'));
  if (typeof value !== 'object' || value === null) return null;
  const members = readMembers(value);
  const readText = (name: string) => (typeof members[name] === 'string' ? members[name] : '');
  return {
    success: members['success'] === true,
    transaction: readText('transaction'),
    network: readText('network'),
    payer: readText('payer'),
    reason: readText('errorReason'),
  };
}

/** True if the second answer equals the first byte for byte, and names the same transaction. */
export function isRedelivery(first: SellerAnswer, second: SellerAnswer): boolean {
  const transaction = readReceipt(first)?.transaction ?? '';
  return (
    second.status === first.status &&
    second.body.equals(first.body) &&
    transaction !== '' &&
    readReceipt(second)?.transaction === transaction
  );
}

/** "200", "no answer within 15 s", "hung up" */
export function describeReply(reply: SellerReply): string {
  if (reply.ok) return String(reply.status);
  return reply.why === 'silent' ? `no answer within ${Math.round(reply.ms / 1_000)} s` : 'hung up';
}

const ERROR_MEMBERS = ['error', 'message', 'reason', 'detail', 'errorReason'];
const MAX_ERROR_CHARS = 100;

/** The error that a JSON body names; null if it names none. */
export function readOwnError(reply: SellerReply): string | null {
  if (!reply.ok) return null;
  const body = readMembers(parseJsonBody(reply.body));
  const nested = readMembers(body['error']);
  const values = [body, nested].flatMap((members) => ERROR_MEMBERS.map((name) => members[name]));
  const text = values.find((value) => typeof value === 'string' && value !== '');
  return typeof text === 'string' ? text.slice(0, MAX_ERROR_CHARS) : null;
}

/** Returns undefined if the body is not JSON. */
export function parseJsonBody(body: Buffer): unknown {
  return tryParseJson(body.toString('utf8'));
}
