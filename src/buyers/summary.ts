import { type OtherWay, PAYABLE_BY, type Payability } from '../model/payability.ts';
import type { ScanReport } from '../model/report.ts';

const SILENT = { payableBy: 'nobody', words: 'no challenge was seen', offers: [] } as const;

/**
 * Null for scans that predate the clients; no client runs when nothing challenged. In older recordings
 * what is sold over another protocol beside x402 is silent.
 */
export function toSummary(
  payability: Payability | null,
  otherWays: readonly OtherWay[] = [],
): Pick<ScanReport, 'payability' | 'payableBy' | 'clients'> {
  if (payability === null) return { payability: null, payableBy: 'unknown', clients: [] };
  const { resources, clients } = payability;
  const apart = resources.length > 0 ? otherWays : [];
  const silent = payability.silent.filter((one) => !apart.some((way) => isSame(way, one)));
  const all = [...resources, ...silent.map((one) => ({ ...one, ...SILENT }))];
  const best = PAYABLE_BY.find((name) => resources.some(({ payableBy }) => payableBy === name));
  return { payability: all, payableBy: best ?? null, clients };
}

type WayRequest = Pick<OtherWay, 'method' | 'path'>;

function isSame(one: WayRequest, other: WayRequest): boolean {
  return one.method === other.method && one.path === other.path;
}
