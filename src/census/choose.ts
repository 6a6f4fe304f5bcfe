/** Chooses which listed origins the census asks: the same ones every day. */
import { hash } from 'node:crypto';

export type Candidate = {
  readonly host: string;
  /** Registrable domain. */
  readonly domain: string;
};

export type ChoiceOptions = {
  readonly maxOrigins: number;
  /** Hosts and registrable domains that the operator has excluded. */
  readonly excluded: ReadonlySet<string>;
};

const ORIGINS_PER_DOMAIN = 20;

export function chooseOrigins(candidates: readonly Candidate[], options: ChoiceOptions) {
  const { maxOrigins, excluded } = options;
  const allowed = candidates.filter((candidate) => !isExcluded(candidate, excluded));
  const byDomain = [...Map.groupBy(sortByHash(allowed), ({ domain }) => domain).values()];
  const capped = byDomain.flatMap((origins) => origins.slice(0, ORIGINS_PER_DOMAIN));
  const chosen = sortByHash(capped).slice(0, maxOrigins);
  return {
    hosts: new Set(chosen.map(({ host }) => host)),
    /** Numbers of origins. `domain`: more than one domain may have. `max`: more than `CENSUS_MAX`. */
    leftOut: {
      excluded: candidates.length - allowed.length,
      domain: allowed.length - capped.length,
      max: capped.length - chosen.length,
    },
  };
}

/** The order of an index must not influence the choice. */
function sortByHash(candidates: readonly Candidate[]): readonly Candidate[] {
  const keyed = candidates.map((candidate) => ({ candidate, key: hash('sha256', candidate.host) }));
  return keyed.sort((a, b) => (a.key < b.key ? -1 : 1)).map(({ candidate }) => candidate);
}

function isExcluded({ host, domain }: Candidate, excluded: ReadonlySet<string>): boolean {
  const [hostname = host] = host.split(':', 1);
  return excluded.has(host) || excluded.has(hostname) || excluded.has(domain);
}
