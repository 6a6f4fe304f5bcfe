/**
 * - `unavailable`: the database does not answer now; the same call may work later.
 * - `full`: no room to write (disk, quota); what was stored before is intact, this write is not there.
 * - `locked`: another process uses this embedded store.
 * - `bad_url`: `STORE_URL` cannot be understood.
 * - `incompatible`: instances with other settings, a signer in use, or a newer schema live on this store.
 * - `conflict`: an id that must be fresh is taken.
 * - `too_large`: a value is over the limit its operation states.
 * - `corrupt`: the stored data is not in a form that this program writes.
 */
export type StoreErrorCode =
  | 'unavailable'
  | 'full'
  | 'locked'
  | 'bad_url'
  | 'incompatible'
  | 'conflict'
  | 'too_large'
  | 'corrupt';

/** Every failure of a store is one of these; `cause` holds the driver's own error. */
export class StoreError extends Error {
  readonly code: StoreErrorCode;
  /** True when the same call may succeed in a moment: the reply was lost, or the server changed its primary. */
  readonly mayRetry: boolean;

  constructor(
    code: StoreErrorCode,
    message: string,
    options: { readonly cause?: unknown; readonly mayRetry?: boolean } = {},
  ) {
    super(message, options);
    this.name = 'StoreError';
    this.code = code;
    this.mayRetry = options.mayRetry ?? false;
  }
}
