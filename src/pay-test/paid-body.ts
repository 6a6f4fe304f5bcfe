import { jsonOf } from './replies.ts';
import type { SellerAnswer } from './seller-client.ts';

/** Members of a challenge that describe what is sold, and do not hold it. */
const DESCRIBING: Readonly<Record<1 | 2, readonly string[]>> = {
  1: ['accepts', 'resource', 'extensions', 'outputSchema'],
  2: ['accepts', 'resource', 'extensions'],
};
const MAX_LEAVES = 10_000;
const MAX_PARTS = 2_000;
/** Smaller parts of a refusal are alike by chance. */
const MIN_PART_LEAVES = 3;

type Leaves = ReadonlyMap<string, string>;

/** True for an equal body, and for JSON of the same shape with over half of its values. */
export function isPaidBody(paid: SellerAnswer, body: Buffer): boolean {
  if (body.length === 0 || paid.body.length === 0) return false;
  if (body.equals(paid.body)) return true;
  const [one, other] = [jsonOf(paid.body), jsonOf(body)];
  return isPart(one) && isPart(other) && isAlike(leavesOf(one), leavesOf(other));
}

/** True if a member of the refusal's JSON, at any depth, is the paid body or like it. */
export function hasPaidPart(paid: SellerAnswer, refusal: Buffer, version: 1 | 2): boolean {
  const root = jsonOf(refusal);
  if (!isPart(root)) return false;
  const text = paid.body.toString('utf8').trim();
  const sold = jsonOf(paid.body);
  const leaves = isPart(sold) ? leavesOf(sold) : null;
  const open = holdingMembers(root, version);
  // The loop also visits the parts that it adds.
  for (const part of open) {
    if (typeof part === 'string' && part !== '' && [text, sold].includes(part.trim())) return true;
    if (!isPart(part)) continue;
    if (leaves !== null && isPaidPart(leaves, leavesOf(part))) return true;
    const inner = 'accepts' in part ? holdingMembers(part, version) : Object.values(part);
    if (open.length + inner.length <= MAX_PARTS) open.push(...inner);
  }
  return false;
}

function holdingMembers(challenge: object, version: 1 | 2): unknown[] {
  const members = Object.entries(challenge);
  return members.flatMap(([name, part]) => (DESCRIBING[version].includes(name) ? [] : [part]));
}

function isPaidPart(paid: Leaves, part: Leaves): boolean {
  const isEqual = paid.size > 0 && paid.size === part.size && countEqual(paid, part) === paid.size;
  return isEqual || (paid.size >= MIN_PART_LEAVES && isAlike(paid, part));
}

function isAlike(one: Leaves, other: Leaves): boolean {
  if (one.size === 0 || one.size !== other.size) return false;
  const isSameShape = [...one.keys()].every((path) => other.has(path));
  return isSameShape && countEqual(one, other) * 2 > one.size;
}

function countEqual(one: Leaves, other: Leaves): number {
  return [...one].filter(([path, value]) => other.get(path) === value).length;
}

function isPart(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

/** Maps path and type to value. */
function leavesOf(part: object): Leaves {
  const leaves = new Map<string, string>();
  const open: [path: string, value: unknown][] = [['', part]];
  for (let next = open.pop(); next !== undefined && leaves.size < MAX_LEAVES; next = open.pop()) {
    const [path, one] = next;
    if (isPart(one)) {
      for (const [name, inner] of Object.entries(one)) open.push([`${path}/${name}`, inner]);
    } else {
      leaves.set(`${path} ${typeof one}`, JSON.stringify(one) ?? '');
    }
  }
  return leaves;
}
