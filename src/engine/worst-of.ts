import type { ResourceSet } from '../model/observations.ts';
import type { Kit } from '../parse/kit/kit.ts';
import type { ChallengedResource } from '../parse/x402/challenge.ts';
import { unchallenged } from './engine-findings.ts';
import type { Finding, Found, Outcomes } from './outcomes.ts';

/** Limited by the length of evidence; one example is enough to act on. */
const MAX_SHOWN = 3;

/**
 * Judges each resource that challenged. Returns the worst finding with its count ("2 of 3") and requests,
 * or `sound` with "2 of 3 resources". `inspect` returns the text after the request. With `unjudged`,
 * resources that offer only what is known and not judged are counted apart, and are that outcome if
 * there are no others.
 */
export function worstOf<Name extends string>(
  outcomes: Outcomes<Name>,
  resources: ResourceSet,
  kit: Kit,
  inspect: (one: ChallengedResource) => readonly Found<NoInfer<Name>>[],
  sound: (count: string, challenged: readonly ChallengedResource[]) => Found<NoInfer<Name>>,
  unjudged?: NoInfer<Name>,
): Finding<Name> {
  const challenged = kit.challenged(resources);
  if (challenged.length === 0) return unchallenged(resources.probed.length);
  const requestOf = ({ probe, resource }: ChallengedResource) =>
    kit.request(probe.method, resource.path);
  const named = challenged.flatMap((one) => {
    const text = unjudged === undefined ? null : kit.namedOnly(one.reading.challenge);
    return text === null ? [] : [{ one, text: `${requestOf(one)} ${text}` }];
  });
  const judged = challenged.filter((each) => named.every(({ one }) => one !== each));
  if (unjudged !== undefined && judged.length === 0) {
    const texts = listed(named.map(({ text }) => text));
    return [unjudged, `${named.length} of ${named.length}: ${texts}`];
  }
  const found = judged.map((one) =>
    inspect(one).map(([name, text, fix]): Found<Name> => [name, `${requestOf(one)} ${text}`, fix]),
  );
  // One path can be two resources when no method is declared.
  const silent = kit
    .selling(resources)
    .filter((one) => !kit.isMadeUp(one) && challenged.every(({ resource }) => resource !== one));
  const count = `${judged.length} of ${challenged.length + silent.length} resources`;
  const finding = worst(outcomes, found) ?? sound(count, judged);
  if (named.length === 0) return finding;
  const [name, evidence, fix] = finding;
  return [name, `${evidence}; ${named.length} more: known, not judged here`, fix];
}

/** `found` has one list per judged item. Returns null when all lists are empty. */
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

/** Lists the first three and the number of the others. */
export function listed(texts: readonly string[]): string {
  const rest = texts.length - MAX_SHOWN;
  return texts.slice(0, MAX_SHOWN).join('; ') + (rest > 0 ? `; ${rest} more` : '');
}
