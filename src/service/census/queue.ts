/**
 * Decides whose look begins next, and when looks rest because our own network fails. Nobody stands at the head of the
 * queue who cannot begin now.
 */
import type { DueOrigin } from '../store/census.ts';

type QueueFacts = {
  /** Names of the domains and networks that are asked now, by any instance. */
  readonly leased: ReadonlySet<string>;
  /** True if a weekly scan cannot begin, because a paid scan runs. */
  readonly isPaidScanRunning: boolean;
  readonly isScanDue: (due: DueOrigin) => boolean;
  readonly limit: number;
};

/** A domain or network that used more time of looks today goes last. */
const MAX_USED_MS = 60_000;

/** Chooses the next looks of this process, and remembers refused hosts and the time that looks have used. */
export class LookQueue {
  /** The time at which a limit rejected the look of a host. The host then goes behind those that were due before. */
  readonly #rejectedAtMs = new Map<string, number>();
  readonly #usedMs = new Map<string, number>();
  #day = 0;

  reject(host: string, nowMs: number): void {
    this.#rejectedAtMs.set(host, nowMs);
  }

  end(host: string): void {
    this.#rejectedAtMs.delete(host);
  }

  /** Counts the time of a look for its domain and networks. */
  use(targets: readonly string[], ms: number, day: number): void {
    if (day !== this.#day) this.#usedMs.clear();
    this.#day = day;
    for (const target of targets) this.#usedMs.set(target, (this.#usedMs.get(target) ?? 0) + ms);
  }

  /** Chooses among due hosts: at most one of each domain and of each network at which the last look found a host. */
  choose(due: readonly DueOrigin[], facts: QueueFacts): readonly string[] {
    const { leased, isPaidScanRunning, isScanDue, limit } = facts;
    const busyTargets = new Set(leased);
    const chosen: string[] = [];
    for (const origin of this.#sort(due)) {
      if (chosen.length >= limit) break;
      const targets = listTargets(origin);
      if (targets.some((target) => busyTargets.has(target))) continue;
      if (isPaidScanRunning && isScanDue(origin)) continue;
      for (const target of targets) busyTargets.add(target);
      chosen.push(origin.host);
    }
    return chosen;
  }

  #sort(due: readonly DueOrigin[]): readonly DueOrigin[] {
    const ranked = due.map((origin) => ({
      origin,
      isSlow: listTargets(origin).some((target) => (this.#usedMs.get(target) ?? 0) > MAX_USED_MS),
      sinceMs: Math.max(origin.lookAtMs, this.#rejectedAtMs.get(origin.host) ?? 0),
    }));
    return ranked
      .sort((a, b) => Number(a.isSlow) - Number(b.isSlow) || a.sinceMs - b.sinceMs)
      .map(({ origin }) => origin);
  }
}

function listTargets({ domain, network }: Pick<DueOrigin, 'domain' | 'network'>) {
  const domainTarget = toDomainTarget(domain);
  return network === null ? [domainTarget] : [domainTarget, toNetworkTarget(network)];
}

export function toDomainTarget(domain: string): string {
  return `domain ${domain}`;
}

export function toNetworkTarget(network: string): string {
  return `network ${network}`;
}

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

/**
 * The newest looks of this process, at 20 registrable domains. All looks at a domain count as one, its newest. A silent host
 * gets its word when its domain leaves the window.
 */
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

/** Looks rest after an outage of our own network. The rest may move looks over midnight. */
export class LookRest {
  #fromMs = 0;
  #untilMs = 0;
  #isOver = true;

  begin(nowMs: number): void {
    if (this.#isOver) this.#fromMs = nowMs;
    this.#untilMs = nowMs + REST_MS;
    this.#isOver = false;
  }

  /** A rest is over once its time has passed and our network works again. Otherwise looks rest on. */
  async endIfOver(nowMs: number, isNetworkUp: () => Promise<boolean>): Promise<void> {
    if (this.#isOver || this.isResting(nowMs)) return;
    if (await isNetworkUp()) this.#isOver = true;
    else this.begin(nowMs);
  }

  isResting(nowMs: number): boolean {
    return nowMs < this.#untilMs;
  }

  /** True if the rest moved a look that was planned for `plannedMs` to a later day. */
  hasMoved(plannedMs: number, nowMs: number, dayMs: number): boolean {
    const restDay = Math.floor(this.#fromMs / dayMs);
    return (
      Math.floor(plannedMs / dayMs) === restDay &&
      Math.floor(this.#untilMs / dayMs) > restDay &&
      plannedMs < this.#untilMs &&
      nowMs < this.#untilMs + MAX_MAKE_UP_MS
    );
  }
}

/** The words of a day are counted half an hour after its end. */
const MAX_MAKE_UP_MS = 15 * 60_000;
