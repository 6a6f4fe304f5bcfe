/** The n-grams of hosts, by which both stores search for a part of a host. */

/** The longest run of characters that is indexed. */
export const NGRAM_LENGTH = 3;

/** Everything that a canonical host, with its port, is made of. */
const HOST_CHARACTERS = /^[a-z0-9._:[\]-]*$/;

/** All distinct runs of `length` characters of a host (hosts are ASCII: A-labels). */
export function ngramsOf(host: string, length: number): readonly string[] {
  const ngrams = new Set<string>();
  for (let at = 0; at + length <= host.length; at += 1) ngrams.add(host.slice(at, at + length));
  return [...ngrams];
}

/** The n-grams that a host with this substring must have: one if it is short, else every trigram. */
export function ngramsOfSubstring(q: string): readonly string[] {
  return q.length <= NGRAM_LENGTH ? [q] : ngramsOf(q, NGRAM_LENGTH);
}

/** The substring as hosts are spelt; null when no host can have it. Empty: every host has it. */
export function hostSubstring(q: string): string | null {
  const lower = q.toLowerCase();
  return HOST_CHARACTERS.test(lower) ? lower : null;
}
