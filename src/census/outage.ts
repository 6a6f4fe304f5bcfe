/** Distinguishes a failure of our own network from origins that are down. */

/** A look that has ended. */
export type EndedLook = {
  readonly host: string;
  /** A resolved network; the registrable domain if the name was not resolved. */
  readonly network: string;
  readonly isSilent: boolean;
};

/** Silent hosts whose word of the day can now be stored. */
export type DecidedHosts = {
  /** The origin is down. */
  readonly down: readonly string[];
  /** Our network may have failed. */
  readonly ours: readonly string[];
};

const WINDOW_LOOKS = 20;
/** An outage of ours: this many looks of the window, in this many networks, met no answer. */
const MIN_LOOKS = 15;
const MIN_NETWORKS = 10;

/** The newest looks of this process. A silent host gets its word when its look leaves the window. */
export class OutageWindow {
  #looks: EndedLook[] = [];

  /** `down` has the silent hosts that left the window. In an outage of ours, `ours` has those still in the window. */
  add(look: EndedLook): DecidedHosts {
    const looks = [...this.#looks, look];
    const leaving = looks
      .slice(0, Math.max(0, looks.length - WINDOW_LOOKS))
      .filter(({ isSilent }) => isSilent);
    this.#looks = looks.slice(-WINDOW_LOOKS);
    const silent = this.#looks.filter(({ isSilent }) => isSilent);
    const networks = new Set(silent.map(({ network }) => network));
    const isOurs = look.isSilent && silent.length >= MIN_LOOKS && networks.size >= MIN_NETWORKS;
    return { down: leaving.map(toHost), ours: isOurs ? silent.map(toHost) : [] };
  }

  /** Empties the window and returns its silent hosts. */
  drain(): readonly string[] {
    return this.#looks
      .splice(0)
      .filter(({ isSilent }) => isSilent)
      .map(toHost);
  }
}

function toHost({ host }: EndedLook): string {
  return host;
}
