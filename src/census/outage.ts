/** Distinguishes a failure of our own network from origins that are down. */

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
  readonly notChecked: readonly string[];
};

const WINDOW_LOOKS = 20;
/** Our network has failed if this many looks of the window, in this many networks, got no answer. */
const MIN_LOOKS = 15;
const MIN_NETWORKS = 10;

/** The newest looks of this process. A silent host gets its word when its look leaves the window. */
export class OutageWindow {
  #looks: EndedLook[] = [];

  /** Silent hosts that leave the window are down. If our network failed, the silent hosts in it are not checked. */
  add(look: EndedLook): DecidedHosts {
    const looks = [...this.#looks, look];
    const leaving = looks.slice(0, -WINDOW_LOOKS).filter(({ isSilent }) => isSilent);
    this.#looks = looks.slice(-WINDOW_LOOKS);
    const silent = this.#looks.filter(({ isSilent }) => isSilent);
    const networks = new Set(silent.map(({ network }) => network));
    const hasFailed = look.isSilent && silent.length >= MIN_LOOKS && networks.size >= MIN_NETWORKS;
    return { down: leaving.map(toHost), notChecked: hasFailed ? silent.map(toHost) : [] };
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
