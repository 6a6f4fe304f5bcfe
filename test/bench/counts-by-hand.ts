/** Counts the matching hosts of a seeded directory by reading each of them. */

import type { PayableFilter } from '../../src/scanner/model/payability.ts';
import type { Grade } from '../../src/scanner/model/report.ts';
import type { DayWords } from '../../src/service/store/census.ts';
import type { DirectoryQuery } from '../../src/service/store/context.ts';
import { toVerifiedSinceMs } from '../../src/service/store/owners.ts';
import {
  type DirectorySeed,
  findConfirmations,
  findHiddenSettings,
  seededHosts,
} from './seeded-hosts.ts';

export class CountsByHand {
  readonly #hosts: string[] = [];
  readonly #categories: string[] = [];
  readonly #grades: Grade[] = [];
  readonly #verified: boolean[] = [];
  readonly #words: (DayWords | null)[] = [];
  readonly #known = new Map<string, number>();

  constructor(seed: DirectorySeed) {
    const sinceMs = toVerifiedSinceMs(seed.nowMs);
    for (const seeded of seededHosts(seed)) {
      if (findHiddenSettings(seeded).includes('listed')) continue;
      this.#hosts.push(seeded.scan.host);
      this.#categories.push(seeded.scan.branding.category);
      this.#grades.push(seeded.scan.grade);
      this.#words.push(seeded.words);
      this.#verified.push(
        findConfirmations(seeded).some(({ confirmedAtMs }) => confirmedAtMs > sinceMs),
      );
    }
  }

  count({ category, grade, verified, payable, q = '' }: DirectoryQuery): number {
    const name = JSON.stringify([category, grade, verified, payable, q]);
    const known = this.#known.get(name);
    if (known !== undefined) return known;
    let count = 0;
    for (const [index, host] of this.#hosts.entries()) {
      if (category !== undefined && this.#categories[index] !== category) continue;
      if (grade !== undefined && this.#grades[index] !== grade) continue;
      if (payable !== undefined && !this.#isPayable(index, payable)) continue;
      if ((verified !== true || this.#verified[index]) && host.includes(q)) count += 1;
    }
    this.#known.set(name, count);
    return count;
  }

  #isPayable(index: number, payable: PayableFilter): boolean {
    const words = this.#words[index] ?? null;
    if (words === null) return false;
    // Each seeded word is at most a day old, so it is the word of today.
    if (payable === 'today') return words.word === 'payable';
    // Each of the last seven days has a letter.
    return words.letters.slice(-7).replaceAll('d', '').length >= 6;
  }
}
