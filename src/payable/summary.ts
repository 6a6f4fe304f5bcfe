/** What a report says of payability: each resource, and the best of them. */
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

/** Nothing is known of scans older than the clients; where nothing challenged, no client was asked. */
export function summaryOf(payability: Payability | null): PayabilitySummary {
  if (payability === null) return { payability: null, payableBy: 'unknown', clients: [] };
  const { resources, silent, clients } = payability;
  const all = [...resources, ...silent.map((one) => ({ ...one, ...SILENT }))];
  const best = PAYABLE_BY.find((name) => resources.some(({ payableBy }) => payableBy === name));
  return { payability: all, payableBy: best ?? null, clients };
}
