import { fileURLToPath } from 'node:url';
import { forkScript } from '../../fixtures/service/forked-script.ts';

/** `distant` is a good one over TLS, delayed at the socket and not at the answer. */
export type SellerKind = 'good' | 'distant' | 'hostile';

export type FarmOrder = {
  readonly kind: SellerKind;
  readonly count: number;
  /** Before each answer of a good seller; of each round trip to a distant one. */
  readonly delayMs: number;
  /** Operations of a distant one that are posted to, default 1. */
  readonly posts?: number;
  /** Time of an answer of a distant seller behind a proxy, which answers one request of a connection at a time. */
  readonly answerMs?: number;
};

/** The farm's process sends this once it listens. */
export type FarmReport = {
  readonly urls: readonly string[];
  /** The root that distant sellers are certified by, PEM. */
  readonly ca: string | null;
};

/** Sellers in a process of their own, so that what they cost is not counted as ours. */
export type SellerFarm = AsyncDisposable & FarmReport;

export async function startFarm(order: FarmOrder): Promise<SellerFarm> {
  const file = fileURLToPath(new URL('farm-process.ts', import.meta.url));
  const { message, ...forked } = await forkScript<FarmReport>(file, [JSON.stringify(order)]);
  return { ...forked, ...message };
}
