/** Bad usage, a refused origin or our failure; prints one line on standard error and exits with 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}
