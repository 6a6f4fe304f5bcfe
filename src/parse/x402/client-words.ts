/** Finds the member that a client's message is about, so that evidence puts the message beside it. */
import { type JsonValue, jsonObject } from '../json/json.ts';
import type { Offer } from './challenge.ts';
import type { OfferFault } from './offer-fault.ts';

/** A message may contain a shorter value by chance. */
const MIN_QUOTED_CHARS = 20;
/** Words of the official clients about members that they do not name. */
const HINTS: readonly (readonly [words: RegExp, isAbout: (fault: OfferFault) => boolean])[] = [
  [/EIP-712/, ({ kind }) => kind === 'no-domain' || kind === 'wrong-domain'],
  // Clients add the timeout to the time of day, which gives no number.
  [/\bNaN\b/, ({ pointer }) => pointer.endsWith('/maxTimeoutSeconds')],
  [/\bBigInt\b/, ({ pointer }) => /\/(?:amount|maxAmountRequired)$/.test(pointer)],
  [/\btoLowerCase\b/, ({ pointer }) => pointer.endsWith('/asset')],
  [/No network\/scheme/, ({ pointer }) => /\/(?:network|scheme)$/.test(pointer)],
];

/** Returns null if the message names none of several faults. */
export function findMeantFault(faults: readonly OfferFault[], message: string): OfferFault | null {
  const [first] = faults;
  if (first === undefined) return null;
  if (faults.length === 1) return first;
  const hinted = HINTS.flatMap(([words, isAbout]) =>
    words.test(message) ? faults.filter(isAbout) : [],
  );
  const quoted = faults.filter(
    ({ value }) =>
      typeof value === 'string' &&
      ((value.length > 2 && message.includes(value)) || message.includes(JSON.stringify(value))),
  );
  const named = faults.filter(({ pointer, value }) => {
    const name = pointer.slice(pointer.lastIndexOf('/') + 1);
    return value === undefined && new RegExp(`\\b${name}\\b`).test(message);
  });
  return hinted[0] ?? quoted[0] ?? named[0] ?? null;
}

/** Finds the member of a sound offer that the message names by value or name: "extra/feePayer"; null if it names none. */
export function findNamedMember(
  { entry, extra }: Offer,
  message: string,
): readonly [name: string, value: JsonValue | undefined] | null {
  const topMembers = Object.entries(jsonObject(entry)).filter(([name]) => name !== 'extra');
  const extraMembers = Object.entries(jsonObject(extra)).map(
    ([name, value]) => [`extra/${name}`, value] as const,
  );
  const refused = [...topMembers, ...extraMembers].find(([name, value]) => {
    const isQuoted =
      typeof value === 'string' && value.length >= MIN_QUOTED_CHARS && message.includes(value);
    return isQuoted || (name.startsWith('extra/') && message.includes(name.slice('extra/'.length)));
  });
  return refused ?? null;
}
