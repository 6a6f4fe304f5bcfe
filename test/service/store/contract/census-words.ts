/** Helpers add origins to a census, and write its words. */
import { DAY_LETTERS, DAY_WORDS } from '../../../../src/scanner/model/payability.ts';
import { utcDay } from '../../../../src/service/store/statistics.ts';
import type { Store } from '../../../../src/service/store/store.ts';

export type CensusStore = Pick<Store, 'census' | 'now'>;

/** Adds an origin as an import of today does. */
export async function listOrigin({ census, now }: CensusStore, host: string): Promise<void> {
  const day = utcDay(now());
  const planned = { isChosen: true, lookAtMs: now() };
  const seen = { listing: {}, firstDay: day, lastDay: day };
  const originUrl = `https://${host}`;
  await census.saveImported({ host, originUrl, domain: 'example.com', ...seen, ...planned });
}

/** Writes and folds the words of these days. The last letter is today; "-" is a day without a word. */
export async function writeCensusWords(
  { census, now }: CensusStore,
  host: string,
  letters: string,
): Promise<void> {
  const first = utcDay(now()) - letters.length + 1;
  for (const [n, letter] of Array.from(letters).entries()) {
    const word = DAY_WORDS.find((one) => one !== 'not_checked' && DAY_LETTERS[one] === letter);
    if (word !== undefined) await census.insertWord(host, first + n, word);
  }
  await census.fold(host);
}
