/** Chooses whom the census asks of all that is listed: the same origins every day. */
import { hash } from 'node:crypto';

export type Candidate = {
  readonly host: string;
  /** Registrable domain. */
  readonly domain: string;
};

export type ChoiceOptions = {
  readonly maxOrigins: number;
  /** Hosts and registrable domains that the operator leaves out. */
  readonly excluded: ReadonlySet<string>;
};

const ORIGINS_A_DOMAIN = 20;

export function chooseOrigins(candidates: readonly Candidate[], options: ChoiceOptions) {
  const { maxOrigins, excluded } = options;
  const wanted = candidates.filter((one) => !isExcluded(one, excluded));
  const byDomain = [...Map.groupBy(byHash(wanted), ({ domain }) => domain).values()];
  const capped = byDomain.flatMap((origins) => origins.slice(0, ORIGINS_A_DOMAIN));
  const chosen = byHash(capped).slice(0, maxOrigins);
  return {
    hosts: new Set(chosen.map(({ host }) => host)),
    /** `domain`: over 20 origins of one registrable domain. `max`: over `CENSUS_MAX`. */
    leftOut: {
      excluded: candidates.length - wanted.length,
      domain: wanted.length - capped.length,
      max: capped.length - chosen.length,
    },
  };
}

/** The hash decides, so that no order of an index does. */
function byHash(candidates: readonly Candidate[]): readonly Candidate[] {
  const keyed = candidates.map((one) => ({ one, key: hash('sha256', one.host) }));
  return keyed.sort((a, b) => (a.key < b.key ? -1 : 1)).map(({ one }) => one);
}

function isExcluded({ host, domain }: Candidate, excluded: ReadonlySet<string>): boolean {
  const [name = host] = host.split(':', 1);
  return excluded.has(host) || excluded.has(name) || excluded.has(domain);
}
