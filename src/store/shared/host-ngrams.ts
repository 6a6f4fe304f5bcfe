/** The n-grams of hosts, by which both stores search for a part of a host. */

/** The longest run of characters that is indexed. */
export const NGRAM_LENGTH = 3;

/** Everything that a canonical host, with its port, is made of. */
const HOST_CHARACTERS = /^[a-z0-9._:[\]-]*$/;

/** All distinct runs of one to three characters of a host (hosts are ASCII: A-labels). */
export function allNgramsOf(host: string): readonly string[] {
  const ngrams = new Set<string>();
  for (let length = 1; length <= NGRAM_LENGTH; length += 1) addNgrams(ngrams, host, length);
  return [...ngrams];
}

/** The n-grams that a host with this substring must have: one if it is short, else every trigram. */
export function ngramsOfSubstring(q: string): readonly string[] {
  if (q.length <= NGRAM_LENGTH) return [q];
  const ngrams = new Set<string>();
  addNgrams(ngrams, q, NGRAM_LENGTH);
  return [...ngrams];
}

/** The substring as hosts are spelt; null when no host can have it. Empty: every host has it. */
export function hostSubstring(q: string): string | null {
  const lower = q.toLowerCase();
  return HOST_CHARACTERS.test(lower) ? lower : null;
}

function addNgrams(ngrams: Set<string>, host: string, length: number): void {
  for (let at = 0; at + length <= host.length; at += 1) ngrams.add(host.slice(at, at + length));
}
