import { createBuyers } from './buyers.ts';
import type { ChallengeAnswer } from './list-challenges.ts';
import { type Trial, tryChallenge } from './try-challenge.ts';

const buyers = createBuyers();

/** Runs on the clients' thread. `answer` arrives frozen, and clients may mutate their input. */
export async function tryOnThread(answer: ChallengeAnswer): Promise<Trial> {
  return await withPrototypeCheck(() => tryChallenge(structuredClone(answer), buyers));
}

/** One thread serves all scans, so changes to these globals would affect later trials. */
const SHARED = [
  Object,
  Function,
  Array,
  String,
  Number,
  Boolean,
  BigInt,
  Symbol,
  RegExp,
  Date,
  Map,
  Set,
  Promise,
  Error,
  Uint8Array,
  JSON,
  Reflect,
].map((one) => ('prototype' in one ? one.prototype : one));

/** Rejects when the work changed a shared prototype; the caller must then end the thread. */
export async function withPrototypeCheck<Result>(work: () => Promise<Result>): Promise<Result> {
  const before = members();
  const result = await work();
  const after = members();
  const isChanged = (one: unknown, at: number) => !Object.is(one, before[at]);
  if (after.length !== before.length || after.some(isChanged)) {
    throw new TypeError('The trial changed what every object of its thread inherits.');
  }
  return result;
}

/** Lists member names and values in an order that reveals added, removed and replaced members. */
function members(): readonly unknown[] {
  return SHARED.flatMap((owner) =>
    Reflect.ownKeys(owner).flatMap((name) => {
      const { value, get, set } = Object.getOwnPropertyDescriptor(owner, name) ?? {};
      return [name, value, get, set];
    }),
  );
}
