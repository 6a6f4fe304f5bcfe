import { OperatorError } from '../../scanner/model/redact.ts';

/**
 * - `unavailable`: the database does not answer now. The same call may succeed later.
 * - `full`: the disk or quota has no room. This write was not stored, and earlier ones are intact.
 * - `locked`: another process uses this embedded store.
 * - `bad_url`: `STORE_URL` cannot be understood.
 * - `incompatible`: instances with other settings use this store, the signer is in use, or another version of this
 *   program made the schema.
 * - `conflict`: an id or file that must be new exists already.
 * - `too_large`: a value is over the limit that its operation states.
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

/** The only class of error that a store throws. `cause` holds the error of the database driver. */
export class StoreError extends OperatorError {
  readonly code: StoreErrorCode;
  /** True if the same call may succeed in a moment, such as after a lost reply or a change of the primary server. */
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
