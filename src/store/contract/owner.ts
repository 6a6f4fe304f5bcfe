import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';

/** `boot` is new at every start, so a restarted process is another owner. */
export type Owner = {
  readonly host: string;
  readonly boot: string;
};

/** Identifies this process by the machine's name and a random id of this start. */
export function newOwner(): Owner {
  return { host: hostname(), boot: randomUUID() };
}
