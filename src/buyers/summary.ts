import { type OtherWay, PAYABLE_BY, type Payability } from '../model/payability.ts';
import type { ScanReport } from '../model/report.ts';

const NO_CHALLENGE = { payableBy: 'nobody', words: 'no challenge was seen', offers: [] } as const;

/**
 * `payability` is null if the release that scanned had no official clients. Older recordings count a resource that sells
 * only over another protocol as silent; the summary leaves it out. `isUnseen`: no challenge could be judged, so it is not
 * known who can pay.
 */
export function toSummary(
  payability: Payability | null,
  otherWays: readonly OtherWay[] = [],
  isUnseen = false,
): Pick<ScanReport, 'payability' | 'payableBy' | 'clients'> {
  if (payability === null) return { payability: null, payableBy: 'unknown', clients: [] };
  const { resources, clients } = payability;
  const ignoredWays = resources.length > 0 ? otherWays : [];
  const silent = payability.silent.filter(
    ({ method, path }) => !ignoredWays.some((way) => way.method === method && way.path === path),
  );
  const all = [...resources, ...silent.map((request) => ({ ...request, ...NO_CHALLENGE }))];
  const best = PAYABLE_BY.find((name) => resources.some(({ payableBy }) => payableBy === name));
  return { payability: all, payableBy: best ?? (isUnseen ? 'unknown' : null), clients };
}
