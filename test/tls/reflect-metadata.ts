/**
 * `@peculiar/x509` loads tsyringe, which refuses to start without the metadata half of `Reflect`.
 * None of the classes it registers has constructor parameters, so "no metadata" is the whole truth.
 * Import this before `@peculiar/x509`.
 */
if (!('getMetadata' in Reflect)) {
  Object.assign(Reflect, { getMetadata: () => undefined, getOwnMetadata: () => undefined });
}

export {};
