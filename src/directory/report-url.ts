/** The page of a host on the public site, whether it was scanned or not. */
export function reportUrl(siteUrl: string, host: string): string {
  // A port's colon may stand in a path; the brackets of an IPv6 literal may not.
  return `${siteUrl}/o/${encodeURI(host)}`;
}
