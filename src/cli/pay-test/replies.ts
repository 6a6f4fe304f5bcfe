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

/** Members of a challenge that only describe the resource, by version of x402. */
const DESCRIPTION_MEMBERS: Readonly<Record<1 | 2, readonly string[]>> = {
  1: ['accepts', 'resource', 'extensions', 'outputSchema'],
  2: ['accepts', 'resource', 'extensions'],
};
/** These bound the processor time for one body, which may have 4 MiB. */
const MAX_LEAVES = 10_000;
const MAX_PARTS = 2_000;
/** Smaller parts of a refusal may resemble the paid body by chance. */
const MIN_PART_LEAVES = 3;

/** Values of a JSON document, by path and type. */
type Leaves = ReadonlyMap<string, string>;

/** True if the bodies are equal, or if both are JSON of the same shape with over half of the values equal. */
export function isPaidBody(paid: SellerAnswer, body: Buffer): boolean {
  if (body.length === 0 || paid.body.length === 0) return false;
  if (body.equals(paid.body)) return true;
  const [paidJson, bodyJson] = [parseJsonBody(paid.body), parseJsonBody(body)];
  return (
    isContainer(paidJson) &&
    isContainer(bodyJson) &&
    hasSimilarLeaves(readLeaves(paidJson), readLeaves(bodyJson))
  );
}

/** True if the JSON body holds a challenge at any depth: an object with a list of offers. */
export function hasChallengeInside({ body }: SellerAnswer): boolean {
  const parts = [parseJsonBody(body)];
  // The loop also visits the parts that it adds.
  for (const part of parts) {
    if (!isContainer(part)) continue;
    const { accepts } = readMembers(part);
    if (Array.isArray(accepts) && accepts.some((offer) => 'payTo' in readMembers(offer)))
      return true;
    const inner = Object.values(part);
    if (parts.length + inner.length <= MAX_PARTS) parts.push(...inner);
  }
  return false;
}

/** True if a member of the refusal's JSON, at any depth, equals the paid body or resembles it. */
export function hasPaidPart(paid: SellerAnswer, refusal: Buffer, version: 1 | 2): boolean {
  const root = parseJsonBody(refusal);
  if (!isContainer(root)) return false;
  const paidText = paid.body.toString('utf8').trim();
  const paidJson = parseJsonBody(paid.body);
  const paidLeaves = isContainer(paidJson) ? readLeaves(paidJson) : null;
  const parts = listSearchedMembers(root, version);
  // The loop also visits the parts that it adds.
  for (const part of parts) {
    if (typeof part === 'string' && part !== '' && [paidText, paidJson].includes(part.trim()))
      return true;
    if (!isContainer(part)) continue;
    if (paidLeaves !== null && isPaidContent(paidLeaves, readLeaves(part))) return true;
    const inner = 'accepts' in part ? listSearchedMembers(part, version) : Object.values(part);
    if (parts.length + inner.length <= MAX_PARTS) parts.push(...inner);
  }
  return false;
}

function listSearchedMembers(challenge: object, version: 1 | 2): unknown[] {
  const members = Object.entries(challenge);
  return members.flatMap(([name, part]) =>
    DESCRIPTION_MEMBERS[version].includes(name) ? [] : [part],
  );
}

function isPaidContent(paid: Leaves, part: Leaves): boolean {
  const isEqual = paid.size > 0 && paid.size === part.size && countEqual(paid, part) === paid.size;
  return isEqual || (paid.size >= MIN_PART_LEAVES && hasSimilarLeaves(paid, part));
}

function hasSimilarLeaves(one: Leaves, other: Leaves): boolean {
  if (one.size === 0 || one.size !== other.size) return false;
  const isSameShape = [...one.keys()].every((path) => other.has(path));
  return isSameShape && countEqual(one, other) * 2 > one.size;
}

function countEqual(one: Leaves, other: Leaves): number {
  return [...one].filter(([path, value]) => other.get(path) === value).length;
}

function isContainer(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

function readLeaves(part: object): Leaves {
  const leaves = new Map<string, string>();
  const pending: [path: string, value: unknown][] = [['', part]];
  for (
    let next = pending.pop();
    next !== undefined && leaves.size < MAX_LEAVES;
    next = pending.pop()
  ) {
    const [path, value] = next;
    if (isContainer(value)) {
      for (const [name, inner] of Object.entries(value)) pending.push([`${path}/${name}`, inner]);
    } else {
      leaves.set(`${path} ${typeof value}`, JSON.stringify(value) ?? '');
    }
  }
  return leaves;
}
