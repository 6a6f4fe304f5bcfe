/** One collection of garbage, now. V8 collects nothing while nothing is allocated. */

/**
 * Of this thread alone, and the one kind that shrinks the young generation; Node names it by a flag
 * only. Takes about a millisecond for each MiB in use, in which the thread does nothing else.
 */
export function collectGarbage(): void {
  // Not imported: threads that end before they rest need not load them.
  const v8 = process.getBuiltinModule('node:v8');
  const { runInNewContext } = process.getBuiltinModule('node:vm');
  v8.setFlagsFromString('--expose-gc');
  const gc: unknown = runInNewContext('gc');
  v8.setFlagsFromString('--no-expose-gc');
  if (typeof gc === 'function') gc({ type: 'major', flavor: 'last-resort' });
}
