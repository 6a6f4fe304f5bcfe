/** One thread serves all scans: what a trial adds to these, the trials after it would inherit. */
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

/** Rejects where the work changed what every object inherits; its thread is then to end. */
export async function leaveNoTrace<Result>(work: () => Promise<Result>): Promise<Result> {
  const before = members();
  const result = await work();
  const after = members();
  const isChanged = (one: unknown, at: number) => !Object.is(one, before[at]);
  if (after.length !== before.length || after.some(isChanged)) {
    throw new TypeError('The trial changed what every object of its thread inherits.');
  }
  return result;
}

/** Each member's name and what it holds, in an order that adding, removing or replacing one changes. */
function members(): readonly unknown[] {
  return SHARED.flatMap((owner) =>
    Reflect.ownKeys(owner).flatMap((name) => {
      const { value, get, set } = Object.getOwnPropertyDescriptor(owner, name) ?? {};
      return [name, value, get, set];
    }),
  );
}
