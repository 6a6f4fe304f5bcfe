/** The name of the next catalog: "<date>.<n>", never older than the newest. */

/** In `versions` the newest is last. The date is that of `now` in UTC. */
export function toNextChecksVersion(versions: readonly string[], now: Date): string {
  const today = now.toISOString().slice(0, 10);
  const [newestDate, newestNumber] = versions.at(-1)?.split('.') ?? [];
  if (newestDate === undefined || newestDate < today) return `${today}.1`;
  return `${newestDate}.${Number(newestNumber) + 1}`;
}
