/** Types of a soak. `run.ts` reads its flags, plays it, and turns its end into an exit code. */

/** The limits of a whole number, and the one that is taken if the flag is absent. */
export type Flag = { readonly from: number; readonly to: number; readonly usual: number };

export type Soak<Name extends string = string> = {
  readonly flags: Readonly<Record<Name, Flag>>;
  /**
   * Returns false if a promise is broken, and throws `SoakImpossible` if the machine lacks a part. `onSignal` takes
   * what ends the processes of the soak at once: after a signal there is no turn of the event loop.
   */
  play(
    values: Readonly<Record<Name, number>>,
    onSignal: (end: () => void) => void,
  ): Promise<boolean>;
};

/** The message names the part that this machine lacks. */
export class SoakImpossible extends Error {}

/** The same seed plays the same soak again. */
export const SEED: Flag = { from: 1, to: 999_999_999, usual: (Date.now() % 1_000_000) + 1 };

/** Infers the names of the flags. */
export function defineSoak<Name extends string>(soak: Soak<Name>): Soak<Name> {
  return soak;
}
