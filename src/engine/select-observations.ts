import type { ObservationName, Observations } from '../model/observations.ts';

/** Selects observations by name; one that was not made is left out. */
export function selectObservations<Name extends ObservationName>(
  seen: Pick<Observations, Name>,
  names: readonly Name[],
): Pick<Observations, Name> {
  const made = names.filter((name) => seen[name] !== undefined);
  // Entries lose the type of their names.
  return Object.fromEntries(made.map((name) => [name, seen[name]])) as Pick<Observations, Name>;
}
