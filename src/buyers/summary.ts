import { type OtherWay, PAYABLE_BY, type Payability } from '../model/payability.ts';
import type { ScanReport } from '../model/report.ts';

const NO_CHALLENGE = { payableBy: 'nobody', words: 'no challenge was seen', offers: [] } as const;

/**
 * `payability` is null for scans of releases without the clients. In older recordings, a resource that is sold only over
 * another protocol is among the silent ones, and is left out here.
 */
export function toSummary(
  payability: Payability | null,
  otherWays: readonly OtherWay[] = [],
): Pick<ScanReport, 'payability' | 'payableBy' | 'clients'> {
  if (payability === null) return { payability: null, payableBy: 'unknown', clients: [] };
  const { resources, clients } = payability;
  const soldOtherwise = resources.length > 0 ? otherWays : [];
  const silent = payability.silent.filter((one) => !soldOtherwise.some((way) => isSame(way, one)));
  const all = [...resources, ...silent.map((one) => ({ ...one, ...NO_CHALLENGE }))];
  const best = PAYABLE_BY.find((name) => resources.some(({ payableBy }) => payableBy === name));
  return { payability: all, payableBy: best ?? null, clients };
}

type WayRequest = Pick<OtherWay, 'method' | 'path'>;

function isSame(one: WayRequest, other: WayRequest): boolean {
  return one.method === other.method && one.path === other.path;
}
