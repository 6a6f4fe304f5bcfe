/** The promises of the census, judged by what the sellers saw. Each gives the breaches that it found. */

import { scannerUserAgent } from '../../../../src/scanner/probe/client/user-agent.ts';
import { toNetwork } from '../../../../src/service/turns/client-key.ts';
import { judgeWords } from './judge-words.ts';
import type { Played } from './play.ts';
import { excessOf } from './recount.ts';
import type { LoggedRequest } from './seller-server.ts';
import type { Seller } from './world.ts';

export type Verdict = {
  readonly promise: string;
  /** Counts in words. */
  readonly facts: string;
  readonly breaches: readonly string[];
};

const USER_AGENT = scannerUserAgent('https://scanner.example/about-census');

export function judge(played: Played): readonly Verdict[] {
  const seen = new Seen(played);
  return [
    ...judgeWords(played, seen),
    judgeRequests(seen),
    judgeTurns(seen, 'domain', ({ domain }) => domain),
    judgeTurns(seen, '/24', ({ address }) => toNetwork(address)),
    judgeKills(played, seen),
    judgeLeavers(played, seen),
    ...judgeSharing(played),
  ];
}

/** The log by seller and day. */
export class Seen {
  readonly sellers: ReadonlyMap<string, Seller>;
  readonly byDay: ReadonlyMap<string, readonly LoggedRequest[]>;
  readonly log: readonly LoggedRequest[];
  readonly scans: ReadonlySet<string>;

  constructor({ sellers, log, scans }: Played) {
    this.sellers = new Map(sellers.map((seller) => [seller.name, seller]));
    this.log = log;
    this.scans = scans;
    this.byDay = Map.groupBy(log, ({ name, day }) => `${name} ${day}`);
  }

  of(name: string, day: number): readonly LoggedRequest[] {
    return this.byDay.get(`${name} ${day}`) ?? [];
  }

  seller(name: string): Seller {
    const seller = this.sellers.get(name);
    if (seller === undefined) throw new Error(`${name} is not a seller`);
    return seller;
  }
}

function judgeRequests(seen: Seen): Verdict {
  const breaches: string[] = [];
  let days = 0;
  let requests = 0;
  for (const [key, asked] of seen.byDay) {
    const seller = seen.seller(asked[0]?.name ?? '');
    const isScanDay = seen.scans.has(key);
    if (!isScanDay) {
      days += 1;
      requests += asked.length;
      const excess = excessOf({ seller, requests: asked, isScanDay });
      breaches.push(...excess.map((one) => `${key} (${seller.kindName}): ${one}`));
    }
    const refused = asked.find(({ path }) => seller.kind.refuses?.includes(path));
    if (refused) breaches.push(`${key}: ${refused.path}, which robots.txt refuses`);
    // A scan also asks as a browser, which names itself in the same words.
    const other = asked.find(({ userAgent }) => !userAgent.includes(USER_AGENT));
    if (other) breaches.push(`${key}: User-Agent ${other.userAgent}`);
  }
  return {
    promise:
      'on a day without a scan: one request a resource, one behind a redirect, one robots.txt',
    facts: `${requests} requests on ${days} such days of sellers`,
    breaches,
  };
}

/** Requests to two sellers of one place neither overlap nor alternate within a day. */
function judgeTurns(seen: Seen, what: string, placeOf: (seller: Seller) => string): Verdict {
  const breaches: string[] = [];
  let places = 0;
  const shared = Map.groupBy(seen.log, (one) => `${placeOf(seen.seller(one.name))} ${one.day}`);
  for (const [key, asked] of shared) {
    if (new Set(asked.map(({ name }) => name)).size < 2) continue;
    places += 1;
    const over = new Set<string>();
    asked.forEach((one, at) => {
      const before = asked[at - 1];
      if (before === undefined || before.name === one.name) return;
      over.add(before.name);
      if (before.endedMs > one.begunMs) breaches.push(`${key}: ${before.name} beside ${one.name}`);
      if (over.has(one.name)) breaches.push(`${key}: ${one.name} again after ${before.name}`);
    });
  }
  return {
    promise: `one look at a time to a ${what}`,
    facts: `${places} days of places with several sellers`,
    breaches,
  };
}

function judgeKills({ kills }: Played, seen: Seen): Verdict {
  const breaches: string[] = [];
  for (const { day, atMs } of kills) {
    const requests = seen.log.filter((one) => one.day === day);
    const before = new Set(requests.filter((one) => one.atMs <= atMs).map(({ name }) => name));
    const again = requests.filter((one) => one.atMs > atMs && before.has(one.name));
    breaches.push(...new Set(again.map(({ name }) => `${name} on day ${day}`)));
  }
  return {
    promise: 'after kill -9 nobody is asked twice that day',
    facts: `${kills.length} kills`,
    breaches,
  };
}

/** Once the wish of an owner is stored, no request, word or record follows. */
function judgeLeavers({ sellers, left, log, records }: Played, seen: Seen): Verdict {
  const leavers = sellers.filter(({ standing }) => standing === 'leaver');
  const duringScans = [...left].filter(([name, { day }]) => seen.scans.has(`${name} ${day}`));
  const shown = new Set(records);
  const asked = [...left].flatMap(([name, { logLength }]) =>
    log
      .slice(logLength)
      .flatMap((one) => (one.name === name ? [`${one.method} ${name}${one.path}`] : [])),
  );
  return {
    promise: 'an owner who leaves at any moment is asked no more, and nothing is shown',
    facts: `${left.size} of ${leavers.length} owners left during a request, ${duringScans.length} of them on the day of a scan`,
    breaches: [
      ...asked.map((request) => `${request} after the owner had left`),
      ...[...left.keys()].filter((name) => shown.has(name)).map((name) => `${name} has a record`),
    ],
  };
}

/** Each instance says a good part of the words; that nobody is asked twice is judged above. */
function judgeSharing({ wordCounts }: Played): readonly Verdict[] {
  if (wordCounts.length === 1) return [];
  const all = wordCounts.reduce((sum, one) => sum + one, 0);
  const idle = wordCounts.filter((one) => one * wordCounts.length * 2 < all);
  return [
    {
      promise: 'instances on one store share the looks',
      facts: `${wordCounts.join(' and ')} words`,
      breaches: idle.map((one) => `an instance said ${one} of ${all} words`),
    },
  ];
}
