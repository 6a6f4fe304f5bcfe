import type { PayableBy } from '../model/payability.ts';
import type { PreflightOffer } from '../preflight/result.ts';

export type WatchedResource = { readonly method: string; readonly path: string };

/** The present answer to a request that was challenged before; `unknown` for one that proves nothing. */
export type AskedResource = WatchedResource &
  (
    | { readonly kind: 'unknown' | 'unreachable' }
    | {
        readonly kind: 'answered';
        readonly payableBy: PayableBy;
        /** Empty when the answer is no challenge. */
        readonly offers: readonly PreflightOffer[];
        /** The outcome of P3 when it fails. */
        readonly schemaOutcome: string | null;
      }
  );
