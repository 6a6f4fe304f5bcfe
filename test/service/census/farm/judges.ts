/** The promises of the census, judged by what the sellers saw. Each gives the breaches that it found. */

import { scannerUserAgent } from '../../../../src/scanner/probe/client/user-agent.ts';
import { toNetwork } from '../../../../src/service/turns/client-key.ts';
import { judgeLeavers, judgeStrangers, judgeWishes } from './judge-owners.ts';
import { judgeWords } from './judge-words.ts';
import type { Played } from './play.ts';
import { excessOf } from './recount.ts';
import type { LoggedRequest } from './seller-server.ts';
import { HOUR_MS, type Seller, WEEK_DAYS } from './world.ts';

export type Verdict = {
  readonly promise: string;
  /** Counts in words. */
  readonly facts: string;
  readonly breaches: readonly string[];
};

const USER_AGENT = scannerUserAgent('https://scanner.example/about-census');
const LARGEST_HOUR = 1.5;
/** Below this share an hour is a matter of chance. */
const SMALLEST_SHARE = 40;

export function judge(played: Played): readonly Verdict[] {
  const seen = new Seen(played);
  const { verdicts, findings } = judgeWords(played, seen);
  return [
    ...verdicts,
    judgeRequests(seen),
    judgeTurns(seen, 'domain', ({ domain }) => domain),
    judgeTurns(seen, '/24', ({ address }) => toNetwork(address)),
    judgeHours(played, seen),
    judgeKills(played, seen),
    judgeWishes(played, seen),
    judgeLeavers(played, seen),
    judgeScans(played, seen),
    judgePosts(seen),
    judgeStrangers(played, seen, findings),
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
    if (seller === undefined) throw new Error(`${name} is no seller`);
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

function judgeHours({ kills, outage, firstDay, days }: Played, seen: Seen): Verdict {
  const looks = [...seen.byDay.values()].flatMap(([first]) => (first ? [first.atMs] : []));
  const hours = Map.groupBy(looks, (atMs) => Math.floor(atMs / HOUR_MS));
  const span = new Set([...hours.keys()].map((hour) => hour % 24)).size;
  const share = looks.length / days / span;
  const apart = new Set(
    [...kills.map(({ againMs }) => againMs), outage.toMs].flatMap((atMs) => {
      const hour = Math.floor(atMs / HOUR_MS);
      return [hour, hour + 1];
    }),
  );
  const usual = [...hours].filter(([hour]) => !apart.has(hour));
  const largest = Math.max(...usual.map(([, all]) => all.length));
  const isJudged = share >= SMALLEST_SHARE;
  const breaches = usual
    .filter(([, all]) => isJudged && all.length > LARGEST_HOUR * share)
    .map(
      ([hour, all]) =>
        `hour ${hour % 24} of day ${Math.floor(hour / 24) - firstDay}: ${all.length}`,
    );
  return {
    promise: `no hour over ${LARGEST_HOUR} × its share of looks${isJudged ? '' : ' (too few to judge)'}`,
    facts: `the share is ${share.toFixed(0)}, the largest hour ${largest}; ${apart.size} hours of catching up apart`,
    breaches,
  };
}

function judgeKills({ kills }: Played, seen: Seen): Verdict {
  const breaches: string[] = [];
  for (const { day, atMs } of kills) {
    const asked = seen.log.filter((one) => one.day === day);
    const before = new Set(asked.filter((one) => one.atMs <= atMs).map(({ name }) => name));
    const again = asked.filter((one) => one.atMs > atMs && before.has(one.name));
    breaches.push(...new Set(again.map(({ name }) => `${name} on day ${day}`)));
  }
  return {
    promise: 'after kill -9 nobody is asked twice that day',
    facts: `${kills.length} kills`,
    breaches,
  };
}

/** Whoever answers has a record within a week, and is scanned once in each week. */
function judgeScans({ firstDay, days, records }: Played, seen: Seen): Verdict {
  const scanDays = Map.groupBy(
    [...seen.scans].map((one) => one.split(' ')),
    ([name = '']) => name,
  );
  const known = new Set(records);
  const most = Math.ceil(days / WEEK_DAYS);
  const breaches = [...seen.sellers.values()].flatMap(({ name, kindName, standing }) => {
    if (!STEADY.has(kindName) || standing !== 'asked') return [];
    const found = (scanDays.get(name) ?? []).map(([, day]) => Number(day) - firstDay);
    const isLate = days > WEEK_DAYS && !known.has(name);
    return [
      ...(isLate ? [`${name} has no record; scans on days ${found.join(', ')}`] : []),
      ...(found.length > most ? [`${name}: scans on days ${found.join(', ')}`] : []),
    ];
  });
  return {
    promise: 'a record within a week of the first look, and one full scan a week',
    facts: `${seen.scans.size} scans, ${records.length} records`,
    breaches,
  };
}

/** A POST goes only where the seller's documents sell it. */
function judgePosts({ log, sellers }: Seen): Verdict {
  const posts = log.filter(({ method }) => method === 'POST');
  const breaches = posts.flatMap(({ name, path }) => {
    const { kind, paths = [], method } = sellers.get(name) ?? {};
    const isBare = paths.length === 0 && kind?.beyond?.[path] !== undefined;
    const isSold = kind?.isDeclared === true && method === 'POST' && paths.includes(path);
    return isBare || isSold ? [] : [`POST ${name}${path}`];
  });
  return {
    promise: 'no POST to what only an index sells',
    facts: `${posts.length} POSTs`,
    breaches,
  };
}

/** Each instance says a good part of the words; that nobody is asked twice is judged above. */
function judgeSharing({ said }: Played): readonly Verdict[] {
  if (said.length === 1) return [];
  const all = said.reduce((sum, one) => sum + one, 0);
  const idle = said.filter((one) => one * said.length * 2 < all);
  return [
    {
      promise: 'instances on one store share the looks',
      facts: `${said.join(' and ')} words`,
      breaches: idle.map((one) => `an instance said ${one} of ${all} words`),
    },
  ];
}

/** Kinds that answer each day in the same way. */
const STEADY: ReadonlySet<string> = new Set(['payable', 'payable-post', 'broken', 'gone', 'free']);
