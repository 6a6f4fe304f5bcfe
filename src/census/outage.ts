/** Tells a failure of our own network from origins that are down. */

/** A look that has ended. */
export type EndedLook = {
  readonly host: string;
  /** A resolved network, or the registrable domain if the name was not resolved. */
  readonly place: string;
  readonly isSilent: boolean;
};

/** Hosts whose word is decided now. */
export type Decided = {
  /** Their silence is their own. */
  readonly down: readonly string[];
  /** Their silence may be ours. */
  readonly ours: readonly string[];
};

const LOOKS = 20;
const SILENT_LOOKS = 15;
const PLACES = 10;

/** The newest looks of this process. A silent one has no word before it leaves them. */
export class OutageWindow {
  #looks: EndedLook[] = [];

  /** Adds a look, and decides those that leave the window or, if we are cut off, all silent ones in it. */
  add(look: EndedLook): Decided {
    const looks = [...this.#looks, look];
    const left = looks
      .slice(0, Math.max(0, looks.length - LOOKS))
      .filter(({ isSilent }) => isSilent);
    this.#looks = looks.slice(-LOOKS);
    const silent = this.#looks.filter(({ isSilent }) => isSilent);
    const places = new Set(silent.map(({ place }) => place));
    const isOurs = look.isSilent && silent.length >= SILENT_LOOKS && places.size >= PLACES;
    return { down: left.map(hostOf), ours: isOurs ? silent.map(hostOf) : [] };
  }

  /** Decides all: no further look follows. */
  drain(): readonly string[] {
    return this.#looks
      .splice(0)
      .filter(({ isSilent }) => isSilent)
      .map(hostOf);
  }
}

function hostOf({ host }: EndedLook): string {
  return host;
}
