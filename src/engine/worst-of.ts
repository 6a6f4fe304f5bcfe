/** One finding for many resources: the first in precedence, of all that have it, three shown. */
import type { ResourceSet } from '../model/observations.ts';
import type { Kit } from '../parse/kit/kit.ts';
import type { ChallengedResource } from '../parse/x402/challenge.ts';
import { unchallenged } from './engine-findings.ts';
import type { Finding, Found, Outcomes } from './outcomes.ts';

/** More would not fit into evidence, and one is enough to go by. */
const MAX_SHOWN = 3;

/**
 * Judges each resource that challenged: the worst finding, with "2 of 3" and where it was seen;
 * `sound` where none was found, told "2 of 3 resources". What `inspect` says follows the request.
 */
export function worstOf<Name extends string>(
  outcomes: Outcomes<Name>,
  resources: ResourceSet,
  kit: Kit,
  inspect: (one: ChallengedResource) => readonly Found<NoInfer<Name>>[],
  sound: (count: string, challenged: readonly ChallengedResource[]) => Found<NoInfer<Name>>,
): Finding<Name> {
  const challenged = kit.challenged(resources);
  if (challenged.length === 0) return unchallenged(resources.probed.length);
  const found = challenged.map((one) => {
    const request = kit.request(one.probe.method, one.resource.path);
    return inspect(one).map(([name, text, fix]): Found<Name> => [name, `${request} ${text}`, fix]);
  });
  // Where no method is declared, one path may be two resources; a sign-in is none.
  const signIns = kit.signIns(resources);
  const silent = resources.probed.filter(
    (one) =>
      !signIns.includes(one) &&
      !kit.isMadeUp(one) &&
      challenged.every(({ resource }) => resource !== one),
  );
  const count = `${challenged.length} of ${challenged.length + silent.length} resources`;
  return worst(outcomes, found) ?? sound(count, challenged);
}

/** `found` has a list for each thing that was judged. Null where all of them are empty. */
export function worst<Name extends string>(
  outcomes: Outcomes<Name>,
  found: readonly (readonly Found<NoInfer<Name>>[])[],
): Found<Name> | null {
  const all = found.flat();
  const name = Object.keys(outcomes).find((key) => all.some(([one]) => one === key));
  const same = all.filter(([one]) => one === name);
  const [first] = same;
  if (first === undefined) return null;
  const having = found.filter((list) => list.some(([one]) => one === name)).length;
  const evidence = `${having} of ${found.length}: ${listed(same.map(([, text]) => text))}`;
  return [first[0], evidence, first[2]];
}

/** The first three, and how many more there are. */
export function listed(texts: readonly string[]): string {
  const rest = texts.length - MAX_SHOWN;
  return texts.slice(0, MAX_SHOWN).join('; ') + (rest > 0 ? `; ${rest} more` : '');
}
