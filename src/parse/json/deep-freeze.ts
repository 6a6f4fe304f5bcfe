/**
 * Freezes a value and everything in it, and returns it. It does not recurse, because nesting depth comes
 * from documents. A frozen value counts as deeply frozen, so shared parts are visited once.
 */
export function deepFreeze<T>(value: T): T {
  const waiting: unknown[] = [value];
  while (waiting.length > 0) {
    const next = waiting.pop();
    if (typeof next !== 'object' || next === null || Object.isFrozen(next)) continue;
    Object.freeze(next);
    for (const member of Object.values(next)) waiting.push(member);
  }
  return value;
}
