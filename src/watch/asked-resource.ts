import type { PayableBy } from '../model/payability.ts';
import type { PreflightOffer } from '../preflight/result.ts';

export type WatchedResource = { readonly method: string; readonly path: string };

/** What the request that gave a challenge gives now. `unknown`: nothing that counts. */
export type AskedResource = WatchedResource &
  (
    | { readonly kind: 'unknown' | 'unreachable' }
    | {
        readonly kind: 'answered';
        readonly payableBy: PayableBy;
        /** Empty where no challenge came. */
        readonly offers: readonly PreflightOffer[];
        /** Of P3, where it fails. */
        readonly schemaOutcome: string | null;
      }
  );
