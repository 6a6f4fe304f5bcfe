/** Wrong usage of a command. The message says how to call it. */
export class ToolUsageError extends Error {
  override readonly name = 'ToolUsageError';
}
