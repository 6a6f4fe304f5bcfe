/** Detects a failure of our own network, which no origin may be blamed for, and lets looks rest meanwhile. */
import { DAY_MS } from './plan.ts';

export type EndedLook = {
  readonly host: string;
  /** Registrable domain. */
  readonly domain: string;
  /** A resolved network; the registrable domain if the name was not resolved. */
  readonly network: string;
  readonly isSilent: boolean;
};

const WINDOW_LOOKS = 20;
/** Our network may have failed if this many looks of the window, in this many networks, got no answer. */
const MIN_LOOKS = 15;
const MIN_NETWORKS = 10;

/** Only the newest look at a domain counts. A silent host gets its word when its domain leaves the window. */
export class OutageWindow {
  #looks: readonly EndedLook[] = [];

  /** Returns the silent hosts that leave the window. They are down. */
  add(look: EndedLook): readonly string[] {
    const looks = [...this.#looks, look];
    const domains = new Set(looks.map(({ domain }) => domain).reverse());
    const windowDomains = new Set([...domains].slice(0, WINDOW_LOOKS));
    this.#looks = looks.filter(({ domain }) => windowDomains.has(domain));
    return listSilent(looks.filter(({ domain }) => !windowDomains.has(domain)));
  }

  /** True if so many looks got no answer that our network may have failed. A registrable domain counts once. */
  mayBeOutage(): boolean {
    const newest = new Map(this.#looks.map((look) => [look.domain, look]));
    const silent = [...newest.values()].filter(({ isSilent }) => isSilent);
    const networks = new Set(silent.map(({ network }) => network));
    return silent.length >= MIN_LOOKS && networks.size >= MIN_NETWORKS;
  }

  /** Removes the silent looks, whose words are decided, and returns their hosts. */
  takeSilent(): readonly string[] {
    const hosts = listSilent(this.#looks);
    this.#looks = this.#looks.filter(({ isSilent }) => !isSilent);
    return hosts;
  }

  /** Removes the look of a host whose word is decided. */
  remove(host: string): void {
    this.#looks = this.#looks.filter((look) => look.host !== host);
  }
}

function listSilent(looks: readonly EndedLook[]): readonly string[] {
  return looks.filter(({ isSilent }) => isSilent).map(({ host }) => host);
}

const REST_MS = 10 * 60_000;
/** A moved look must end before the words of its day are counted, which is half an hour after the end of the day. */
const MAX_DELAY_AFTER_REST_MS = 15 * 60_000;

/** No look begins for some time after an outage of our own network. The rest may move looks over midnight. */
export class LookRest {
  #fromMs = 0;
  #untilMs = 0;
  #isOver = true;

  begin(nowMs: number): void {
    if (this.#isOver) this.#fromMs = nowMs;
    this.#untilMs = nowMs + REST_MS;
    this.#isOver = false;
  }

  /** Ends the rest once its time has passed and our network works again. Otherwise a new rest begins. */
  async endIfOver(nowMs: number, isNetworkUp: () => Promise<boolean>): Promise<void> {
    if (this.#isOver || this.isResting(nowMs)) return;
    if (await isNetworkUp()) this.#isOver = true;
    else this.begin(nowMs);
  }

  isResting(nowMs: number): boolean {
    return nowMs < this.#untilMs;
  }

  /** True if the rest moved a look that was planned for `plannedMs` to a later day. */
  hasMovedLook(plannedMs: number, nowMs: number): boolean {
    const restDay = Math.floor(this.#fromMs / DAY_MS);
    return (
      Math.floor(plannedMs / DAY_MS) === restDay &&
      Math.floor(this.#untilMs / DAY_MS) > restDay &&
      plannedMs < this.#untilMs &&
      nowMs < this.#untilMs + MAX_DELAY_AFTER_REST_MS
    );
  }
}
