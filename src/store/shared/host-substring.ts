/** Everything that a canonical host, with its port, is made of. */
const HOST_CHARACTERS = /^[a-z0-9._:[\]-]*$/;

/** The substring as hosts are spelt; null when no host can have it. Empty: every host has it. */
export function hostSubstring(q: string): string | null {
  const lower = q.toLowerCase();
  return HOST_CHARACTERS.test(lower) ? lower : null;
}
