/** Work of the kind that checks do, by which a machine is measured. */

/** CPU time of `measure` on the machine that the limits were chosen on, warm, in milliseconds. */
export const REFERENCE_MS = 10;
/** Not even the slowest machine gets more: a budget without end is none. */
export const MAX_SCALE = 8;

const ROWS = 4_000;
const ROUNDS = 4;

/** Pure; what it returns depends on all that it does, so that nothing of it is left out. */
export function measure(): number {
  let sum = 0;
  for (let round = 0; round < ROUNDS; round += 1) {
    const rows = Array.from({ length: ROWS }, (_, at) => ({ path: `/${at}/${round}`, at: [at] }));
    const text = JSON.stringify(rows);
    const parsed: readonly { readonly path: string }[] = JSON.parse(text);
    const known = new Map(parsed.map((row) => [row.path, row]));
    for (let at = 0; at < text.length; at += 1) sum = (sum * 31 + text.charCodeAt(at)) | 0;
    sum += known.size;
  }
  return sum;
}
