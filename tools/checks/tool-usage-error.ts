/** Wrong usage of a command; the message says how to call it. */
export class ToolUsageError extends Error {
  override readonly name = 'ToolUsageError';
}
