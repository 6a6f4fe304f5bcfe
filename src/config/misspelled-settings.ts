import { type Environment, SETTING_NAMES } from './environment.ts';

/** Warnings, one line for each name that is one letter off a setting; values may be secrets and are left out. */
export function misspelledSettings(environment: Environment): string[] {
  return Object.keys(environment).flatMap((name) => {
    if (SETTING_NAMES.includes(name)) return [];
    const setting = SETTING_NAMES.find((known) => isOneLetterOff(name, known));
    if (setting === undefined) return [];
    return [`${name} in the environment is no setting and is ignored: did you mean ${setting}?`];
  });
}

/** One letter added, missing, changed or swapped with the next, or the name in another case. */
function isOneLetterOff(name: string, setting: string): boolean {
  const [a, b] = [name.toUpperCase(), setting];
  const shorter = Math.min(a.length, b.length);
  let start = 0;
  while (start < shorter && a[start] === b[start]) start++;
  let end = 0;
  while (end < shorter - start && a.at(-1 - end) === b.at(-1 - end)) end++;
  const [restA, restB] = [a.slice(start, a.length - end), b.slice(start, b.length - end)];
  if (restA.length <= 1 && restB.length <= 1) return true;
  return restA.length === 2 && restB === `${restA[1]}${restA[0]}`;
}
