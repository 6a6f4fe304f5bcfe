import type { Answer, Reply } from './seller-client.ts';

/** The settlement header of an answer. */
export type Receipt = {
  readonly success: boolean;
  readonly transaction: string;
  readonly network: string;
  readonly payer: string;
};

const RECEIPT_HEADERS = ['payment-response', 'x-payment-response'];

export function isDelivery(reply: Reply): reply is Answer {
  return reply.ok && reply.status >= 200 && reply.status < 300;
}

/** Null where the header is missing or cannot be decoded. */
export function readReceipt({ headers }: Answer): Receipt | null {
  const written = RECEIPT_HEADERS.map((name) => headers[name]).find((one) => one !== undefined);
  if (written === undefined) return null;
  try {
    const value: unknown = JSON.parse(Buffer.from(written, 'base64').toString('utf8'));
    if (typeof value !== 'object' || value === null) return null;
    const { success, transaction, network, payer } = {
      ...(value as Partial<Record<keyof Receipt, unknown>>),
    };
    return {
      success: success === true,
      transaction: typeof transaction === 'string' ? transaction : '',
      network: typeof network === 'string' ? network : '',
      payer: typeof payer === 'string' ? payer : '',
    };
  } catch {
    return null;
  }
}

/** True for the same answer byte for byte, with the transaction of the first one. */
export function isRedelivery(first: Answer, again: Answer): boolean {
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

/** True for an equal body, and for JSON of the same shape with over half of its values. */
export function isPaidBody(paid: Answer, body: Buffer): boolean {
  if (body.length === 0 || paid.body.length === 0) return false;
  if (body.equals(paid.body)) return true;
  const [one, other] = [leavesOf(paid.body), leavesOf(body)];
  if (one === null || other === null || one.size === 0 || one.size !== other.size) return false;
  const shared = [...one].filter(([path]) => other.has(path));
  const equal = shared.filter(([path, value]) => other.get(path) === value);
  return shared.length === one.size && equal.length * 2 > one.size;
}

const MAX_LEAVES = 10_000;

/** Maps path and type to value; null where the body is no JSON object or list. */
function leavesOf(body: Buffer): ReadonlyMap<string, string> | null {
  let value: unknown;
  try {
    value = JSON.parse(body.toString('utf8'));
  } catch {
    return null;
  }
  if (typeof value !== 'object' || value === null) return null;
  const leaves = new Map<string, string>();
  const open: [path: string, value: unknown][] = [['', value]];
  for (let next = open.pop(); next !== undefined && leaves.size < MAX_LEAVES; next = open.pop()) {
    const [path, one] = next;
    if (typeof one === 'object' && one !== null) {
      for (const [name, inner] of Object.entries(one)) open.push([`${path}/${name}`, inner]);
    } else {
      leaves.set(`${path} ${typeof one}`, JSON.stringify(one) ?? '');
    }
  }
  return leaves;
}

/** "200", "no answer within 15 s", "hung up" */
export function describeReply(reply: Reply): string {
  if (reply.ok) return String(reply.status);
  return reply.why === 'silent' ? `no answer within ${Math.round(reply.ms / 1_000)} s` : 'hung up';
}
