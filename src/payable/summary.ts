import {
  type ClientVersion,
  PAYABLE_BY,
  type Payability,
  type PayableBy,
  type ResourcePayability,
} from '../model/payability.ts';

export type PayabilitySummary = {
  readonly payability: readonly ResourcePayability[] | null;
  readonly payableBy: PayableBy | null;
  readonly clients: readonly ClientVersion[];
};

const SILENT = { payableBy: 'nobody', words: 'no challenge was seen', offers: [] } as const;

/** Null for scans that predate the clients; no client runs when nothing challenged. */
export function toSummary(payability: Payability | null): PayabilitySummary {
  if (payability === null) return { payability: null, payableBy: 'unknown', clients: [] };
  const { resources, silent, clients } = payability;
  const all = [...resources, ...silent.map((one) => ({ ...one, ...SILENT }))];
  const best = PAYABLE_BY.find((name) => resources.some(({ payableBy }) => payableBy === name));
  return { payability: all, payableBy: best ?? null, clients };
}
