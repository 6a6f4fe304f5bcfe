import type { OtherWay } from '../../model/payability.ts';
import { cleanText } from '../text/text.ts';

type PaidWay = Pick<OtherWay, 'method' | 'path'>;

const MAX_METHODS = 5;
const MAX_PATH_CHARS = 80;

/** Formats the ways that none of `sold` has: "2 more are sold over MPP: tempo, stripe"; null without one. */
export function formatMoreSold(ways: readonly OtherWay[], sold: readonly PaidWay[]): string | null {
  const more = apartFrom(ways, sold);
  const methods = [...new Set(more.flatMap((one) => one.methods))].slice(0, MAX_METHODS);
  const count = countMore(more);
  if (count === null || methods.length === 0) return count;
  return `${count}: ${methods.join(', ')}`;
}

/** Formats the same without the methods: "2 more are sold over MPP". */
export function formatMoreSoldCount(
  ways: readonly OtherWay[],
  sold: readonly PaidWay[],
): string | null {
  return countMore(apartFrom(ways, sold));
}

function apartFrom(ways: readonly OtherWay[], sold: readonly PaidWay[]): readonly OtherWay[] {
  return ways.filter((way) => !sold.some((one) => isSame(one, way)));
}

function countMore(more: readonly OtherWay[]): string | null {
  const { size } = new Set(more.map(({ method, path }) => `${method} ${path}`));
  if (size === 0) return null;
  const protocols = [...new Set(more.map(({ protocol }) => protocol))].join(' and ');
  return `${size} more ${size === 1 ? 'is' : 'are'} sold over ${protocols}`;
}

function isSame(one: PaidWay, other: PaidWay): boolean {
  return one.method === other.method && one.path === other.path;
}

/** Formats one way for people: "GET /report over MPP: tempo, stripe". */
export function formatOtherWay({ method, path, protocol, methods }: OtherWay): string {
  const by = methods.length === 0 ? '' : `: ${methods.join(', ')}`;
  return `${method} ${cleanText(path, MAX_PATH_CHARS)} over ${protocol}${by}`;
}

/** Formats the protocol of a way: "MPP (tempo, stripe)". */
export function formatProtocol({
  protocol,
  methods,
}: Pick<OtherWay, 'protocol' | 'methods'>): string {
  return methods.length === 0 ? protocol : `${protocol} (${methods.join(', ')})`;
}
