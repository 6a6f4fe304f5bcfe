import { createBuyerFactory } from './buyers.ts';
import type { ChallengeAnswer } from './list-challenges.ts';
import { type Trial, tryChallenge } from './try-challenge.ts';

const createBuyer = createBuyerFactory();

/** Runs on the clients' thread. Gives the clients a copy, because they may change their input and `answer` is frozen. */
export async function tryOnThread(answer: ChallengeAnswer): Promise<Trial> {
  return await withPrototypeCheck(() => tryChallenge(structuredClone(answer), createBuyer));
}

/** One thread serves all scans, so a trial that changes these objects would affect later trials. */
const SHARED_OBJECTS = [
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
].map((value) => ('prototype' in value ? value.prototype : value));

/** Rejects if `work` has changed a shared object. The caller must then end the thread. */
export async function withPrototypeCheck<Result>(work: () => Promise<Result>): Promise<Result> {
  const before = listMembers();
  const result = await work();
  const after = listMembers();
  const isChanged = (value: unknown, index: number) => !Object.is(value, before[index]);
  if (after.length !== before.length || after.some(isChanged)) {
    throw new TypeError('The trial changed what every object of its thread inherits.');
  }
  return result;
}

/** Lists the names and values of all members. An added, removed or replaced member changes the list. */
function listMembers(): readonly unknown[] {
  return SHARED_OBJECTS.flatMap((object) =>
    Reflect.ownKeys(object).flatMap((name) => {
      const { value, get, set } = Object.getOwnPropertyDescriptor(object, name) ?? {};
      return [name, value, get, set];
    }),
  );
}
