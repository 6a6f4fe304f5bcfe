/** A command that was called wrongly; the message says how to call it. */
export class ToolUsageError extends Error {
  override readonly name = 'ToolUsageError';
}
