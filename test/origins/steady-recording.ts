/**
 * A recording without what differs from one run to the next: ports, dates, clocks and the random
 * path. Two runs of record.ts write the same bytes, and a change in a file is a change of the seller.
 */

import type { Observations } from '../../src/probe/observations.ts';
import { type Recording, toRecording } from '../../src/probe/recording.ts';

/** When all of them were recorded: the only "now" of their replay. */
export const RECORDED_AT = '2026-08-20T12:00:00.000Z';

/** As long as the ports that the system gives, so that no length differs. */
const PORT = '40402';
const PATH = '0123456789abcdef01234567';
const MS = 10;
/** Headers that hold a time, or a hash of a body with a port in it. */
const FLEETING = new Set(['date', 'etag', 'last-modified']);

export function steadyRecording(observations: Observations): Recording {
  const { host } = new URL(observations.origin.url);
  const { soft404 } = observations;
  const randomPath = soft404.ok ? new URL(soft404.data.url).pathname.slice(1) : '';
  const replace = (text: string) => {
    const steady = text.replaceAll(host, host.replace(/\d+$/, PORT));
    return randomPath === '' ? steady : steady.replaceAll(randomPath, PATH);
  };
  return toRecording(RECORDED_AT, walk(observations, replace) as Observations);
}

function walk(value: unknown, replace: (text: string) => string, name = ''): unknown {
  if (typeof value === 'string') return replace(value);
  if (name === 'port') return Number(PORT);
  if (name === 'ms' || name === 'firstByteMs') return MS;
  if (Array.isArray(value)) {
    return isHeader(value) ? steadyHeader(value, replace) : value.map((one) => walk(one, replace));
  }
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([member, inner]) => [member, walk(inner, replace, member)]),
  );
}

function isHeader(value: readonly unknown[]): value is readonly [string, string] {
  return value.length === 2 && value.every((one) => typeof one === 'string');
}

function steadyHeader(
  [name, value]: readonly [string, string],
  replace: (text: string) => string,
): readonly [string, string] {
  if (FLEETING.has(name)) return [name, 'not recorded'];
  const encoding = (['base64', 'base64url'] as const).find(
    (one) => Buffer.from(value, one).toString(one) === value,
  );
  if (name !== 'payment-required' || encoding === undefined) return [name, replace(value)];
  const text = Buffer.from(value, encoding).toString('utf8');
  return [name, Buffer.from(replace(text), 'utf8').toString(encoding)];
}
