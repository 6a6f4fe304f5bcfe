import type { OtherWay } from '../../model/payability.ts';
import { cleanText } from '../text/text.ts';
import type { OtherChallenge } from './other-protocol.ts';

type SoldRequest = Pick<OtherWay, 'method' | 'path'>;

const MAX_METHODS = 5;
const MAX_PATH_CHARS = 80;

/** Counts the requests of `ways` that are not in `sold`: "2 more are sold over MPP: tempo, stripe"; null for 0. */
export function formatMoreSold(
  ways: readonly OtherWay[],
  sold: readonly SoldRequest[],
): string | null {
  const remaining = removeSold(ways, sold);
  const methods = [...new Set(remaining.flatMap((way) => way.methods))].slice(0, MAX_METHODS);
  const count = formatCount(remaining);
  if (count === null || methods.length === 0) return count;
  return `${count}: ${methods.join(', ')}`;
}

/** Like `formatMoreSold`, but without the methods: "2 more are sold over MPP". */
export function formatMoreSoldCount(
  ways: readonly OtherWay[],
  sold: readonly SoldRequest[],
): string | null {
  return formatCount(removeSold(ways, sold));
}

function removeSold(ways: readonly OtherWay[], sold: readonly SoldRequest[]): readonly OtherWay[] {
  return ways.filter((way) => !sold.some((request) => isSame(request, way)));
}

function formatCount(remaining: readonly OtherWay[]): string | null {
  const { size } = new Set(remaining.map(({ method, path }) => `${method} ${path}`));
  if (size === 0) return null;
  const protocols = [...new Set(remaining.map(({ protocol }) => protocol))].join(' and ');
  return `${size} more ${size === 1 ? 'is' : 'are'} sold over ${protocols}`;
}

function isSame(left: SoldRequest, right: SoldRequest): boolean {
  return left.method === right.method && left.path === right.path;
}

/** "GET /report over MPP: tempo, stripe" */
export function formatOtherWay({ method, path, protocol, methods }: OtherWay): string {
  const suffix = methods.length === 0 ? '' : `: ${methods.join(', ')}`;
  return `${method} ${cleanText(path, MAX_PATH_CHARS)} over ${protocol}${suffix}`;
}

/** "MPP (tempo, stripe)" */
export function formatProtocol({ protocol, methods }: OtherChallenge): string {
  return methods.length === 0 ? protocol : `${protocol} (${methods.join(', ')})`;
}
