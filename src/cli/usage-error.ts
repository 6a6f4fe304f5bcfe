/** Bad usage, a refused origin or our failure: one line on standard error, exit 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}
