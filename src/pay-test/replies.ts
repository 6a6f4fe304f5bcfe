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

/** Null if the header is missing or cannot be decoded. */
export function readReceipt({ headers }: SellerAnswer): SellerReceipt | null {
  const written = RECEIPT_HEADERS.map((name) => headers[name]).find((one) => one !== undefined);
  if (written === undefined) return null;
  try {
    const value: unknown = JSON.parse(Buffer.from(written, 'base64').toString('utf8'));
    if (typeof value !== 'object' || value === null) return null;
    const members: Readonly<Record<string, unknown>> = { ...value };
    const text = (name: string) => (typeof members[name] === 'string' ? members[name] : '');
    return {
      success: members['success'] === true,
      transaction: text('transaction'),
      network: text('network'),
      payer: text('payer'),
      reason: text('errorReason'),
    };
  } catch {
    return null;
  }
}

/** True for the same answer byte for byte, with the transaction of the first one. */
export function isRedelivery(first: SellerAnswer, again: SellerAnswer): boolean {
  const [before, after] = [readReceipt(first), readReceipt(again)];
  return (
    again.status === first.status &&
    again.body.equals(first.body) &&
    before !== null &&
    after !== null &&
    before.transaction !== '' &&
    before.transaction === after.transaction
  );
}

/** "200", "no answer within 15 s", "hung up" */
export function describeReply(reply: SellerReply): string {
  if (reply.ok) return String(reply.status);
  return reply.why === 'silent' ? `no answer within ${Math.round(reply.ms / 1_000)} s` : 'hung up';
}

/** Undefined if the body is not JSON. */
export function jsonOf(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    return undefined;
  }
}
