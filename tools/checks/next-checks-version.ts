/**
 * Returns the name of the next catalog: "<date>.<n>", with the date of `now` in UTC, or of the newest catalog if that is
 * later. The newest of `versions` is the last.
 */
export function toNextChecksVersion(versions: readonly string[], now: Date): string {
  const today = now.toISOString().slice(0, 10);
  const [newestDate, newestNumber] = versions.at(-1)?.split('.') ?? [];
  if (newestDate === undefined || newestDate < today) return `${today}.1`;
  return `${newestDate}.${Number(newestNumber) + 1}`;
}
