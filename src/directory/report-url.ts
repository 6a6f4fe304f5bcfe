/** The page of a host on the public site; it exists for hosts without a scan too. */
export function reportUrl(siteUrl: string, host: string): string {
  // A path may contain a port's colon, and not the brackets of an IPv6 literal.
  return `${siteUrl}/o/${encodeURI(host)}`;
}
