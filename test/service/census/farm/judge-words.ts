/** The word of each seller and day, beside the word that its log gives. */

import type { DayWord } from '../../../../src/scanner/model/payability.ts';
import { lookTimeMs } from '../census-rig.ts';
import type { Seen, Verdict } from './judges.ts';
import type { Kill, Played } from './play.ts';
import { ROBOTS_PATH, recountWord } from './recount.ts';
import { HOUR_MS, type Seller } from './world.ts';

/** Looks that a process runs at a time. */
const RUNNING = 8;
/** A silent look waits this long for the looks after it. */
const SILENT_MS = 3 * HOUR_MS;
/** A look that a kill cut off began shortly before it. */
const LOOK_REAL_MS = 10_000;
/** The clock moves by up to this much at once. */
const STEP_MS = 120_000;

type Case = {
  readonly seller: Seller;
  readonly day: number;
  readonly word: DayWord | null;
};

type Finding = 'as recounted' | 'not asked' | 'cut off' | 'our outage' | string;

export function judgeWords(played: Played, seen: Seen): readonly Verdict[] {
  const words = new Map(played.words.map(({ host, day, word }) => [`${host} ${day}`, word]));
  const askedHosts = new Set(played.hosts);
  const judge = new WordJudge(played, seen);
  const breaches: string[] = [];
  const unfinishedLooks = new Map<number, readonly string[]>();
  const counts = new Map<string, number>();
  for (const seller of seen.sellers.values()) {
    if (!askedHosts.has(seller.name)) continue;
    for (let day = played.firstDay; day < played.firstDay + played.days; day += 1) {
      const word = words.get(`${seller.name} ${day}`) ?? null;
      const finding = judge.find({ seller, day, word });
      counts.set(finding, (counts.get(finding) ?? 0) + 1);
      if (finding === 'cut off')
        unfinishedLooks.set(day, [...(unfinishedLooks.get(day) ?? []), seller.name]);
      if (!KNOWN.has(finding)) {
        breaches.push(
          `${seller.name} (${seller.kindName}) day ${day - played.firstDay}: ${finding}`,
        );
      }
    }
  }
  const count = (name: string) => counts.get(name) ?? 0;
  const many = [...unfinishedLooks].filter(([, looks]) => looks.length > RUNNING);
  return [
    {
      promise: 'every word equals a recount from the logs of the sellers',
      facts: `${count('as recounted')} words recounted, ${count('not asked')} days without a request for a known reason`,
      breaches,
    },
    {
      promise: `after kill -9 only looks that ran, ${RUNNING} at most, are not_checked`,
      facts: `${played.kills.length} kills cut off ${count('cut off')} looks`,
      breaches: many.map(([day, looks]) => `day ${day - played.firstDay}: ${looks.join(', ')}`),
    },
    {
      promise: 'hours in which we are cut off are nobody’s down',
      facts: `${count('our outage')} words not_checked`,
      breaches: count('our outage') > 0 || played.days < 5 ? [] : ['the outage met no look'],
    },
  ];
}

const KNOWN: ReadonlySet<string> = new Set(['as recounted', 'not asked', 'cut off', 'our outage']);

class WordJudge {
  readonly #played: Played;
  readonly #seen: Seen;

  constructor(played: Played, seen: Seen) {
    this.#played = played;
    this.#seen = seen;
  }

  find(one: Case): Finding {
    const { seller, day, word } = one;
    const left = this.#played.left.get(seller.name);
    if (left !== undefined && day >= left.day)
      return word === null ? 'not asked' : `${word}, although the owner has left`;
    const requests = this.#seen.of(seller.name, day);
    const isScanDay = this.#seen.scans.has(`${seller.name} ${day}`);
    const recounted = recountWord({ seller, requests, isScanDay });
    if (recounted !== null && recounted === word) return 'as recounted';
    const expected = recounted ?? this.#withoutRequest(one);
    if (recounted === null && expected === word) return 'not asked';
    if (this.#isCutOff(one)) return 'cut off';
    if (this.#isOutage(one)) return 'our outage';
    return recounted === null
      ? `${word} without a request, expected ${expected}`
      : `${word}, recounted ${recounted}`;
  }

  /** The word of a day on which nobody asked a resource. */
  #withoutRequest({ seller, day }: Case): DayWord | null {
    const { firstDay } = this.#played;
    const { kind } = seller;
    // Without any answer of robots.txt nothing is asked (RFC 9309, 2.3.1.4), and nobody declares a POST.
    if (kind.isDead || kind.robots?.status === 500 || isUndeclaredPost(seller))
      return 'not_checked';
    const asked = this.#seen.of(seller.name, day);
    const isRefused = kind.refuses?.length === 2 || kind.robots?.status === 429;
    if (isRefused || this.#isResting(seller, day)) return 'not_checked';
    // The second of the day had passed when the first import ended.
    const isFirst = day === firstDay && lookTimeMs(seller.name, day) <= this.#played.startMs;
    if (isFirst && asked.length === 0) return null;
    return 'payable';
  }

  #isResting({ name }: Seller, day: number): boolean {
    const { firstDay } = this.#played;
    const atMs = lookTimeMs(name, day);
    for (let before = firstDay; before < day; before += 1) {
      const isScanDay = this.#seen.scans.has(`${name} ${before}`);
      for (const { restMs, atMs: askedMs } of this.#seen.of(name, before)) {
        if (restMs !== null && !isScanDay && askedMs + restMs > atMs) return true;
      }
    }
    return false;
  }

  /** The look ran when its process was killed. */
  #isCutOff({ seller, day, word }: Case): boolean {
    const kill = this.#played.kills.find((one) => one.day === day);
    if (kill === undefined || word !== 'not_checked') return false;
    const requests = this.#seen.of(seller.name, day);
    // A look may be cut off before its first request arrives.
    const isPlanned = requests.length === 0 && isNear(lookTimeMs(seller.name, day), kill);
    return isPlanned || requests.some((one) => ranAt(one.begunMs, kill));
  }

  /** The look met no answer because we were cut off; a dead one's earlier silence is not told from it. */
  #isOutage({ seller, day, word }: Case): boolean {
    const { fromMs, toMs } = this.#played.outage;
    if (word !== 'not_checked') return false;
    const atMs = lookTimeMs(seller.name, day);
    const isSilentBefore = seller.kind.isDead === true || seller.kindName === 'cut';
    const earlyMs = isSilentBefore ? SILENT_MS : 0;
    const isWithin = atMs >= fromMs - STEP_MS - earlyMs && atMs < toMs + HOUR_MS;
    const reached = this.#seen.of(seller.name, day).filter(({ path }) => path !== ROBOTS_PATH);
    return isWithin && (isSilentBefore || reached.length === 0);
  }
}

function isUndeclaredPost({ kind, method }: Seller): boolean {
  return method === 'POST' && kind.isDeclared !== true;
}

function isNear(atMs: number, { atMs: killedMs }: Kill): boolean {
  return Math.abs(atMs - killedMs) < 10 * 60_000;
}

function ranAt(begunMs: number, { realMs }: Kill): boolean {
  return begunMs <= realMs && begunMs > realMs - LOOK_REAL_MS;
}
