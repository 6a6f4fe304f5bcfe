import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { Owner } from '../contract/insert-outcome.ts';

/** This process, as it was started now. */
export function newOwner(): Owner {
  return { host: hostname(), boot: randomUUID() };
}
