/** The longest run of characters that is indexed. */
export const GRAM_LENGTH = 3;

/** All distinct runs of `length` characters of a host (hosts are ASCII: A-labels). */
export function gramsOf(host: string, length: number): readonly string[] {
  const grams = new Set<string>();
  for (let at = 0; at + length <= host.length; at += 1) grams.add(host.slice(at, at + length));
  return [...grams];
}

/** The grams that a host with this substring must have: one if it is short, else every trigram. */
export function gramsOfSubstring(q: string): readonly string[] {
  return q.length <= GRAM_LENGTH ? [q] : gramsOf(q, GRAM_LENGTH);
}
