/** Headings for people, by the slug that reports call `title`. None may read as a verdict. */
const PHRASES: ReadonlyMap<string, string> = new Map([
  ['http-reachable', 'Reachability over HTTP'],
  ['x402-challenge', 'Payment challenge'],
  ['challenge-schema', 'Offers of the challenge'],
  ['payment-required-header', 'PAYMENT-REQUIRED header'],
  ['head-no-settle', 'Unpaid HEAD requests'],
  ['price-integrity', 'Price integrity'],
  ['payto-consistency', 'Consistency of payTo'],
  ['desc-length-cap', 'Length of descriptions'],
  ['openapi-present', 'OpenAPI document'],
  ['openapi-x402-scheme', 'x402 scheme in OpenAPI'],
  ['free-ops-security-empty', 'Free operations in OpenAPI'],
  ['paid-ops-security-402', 'Paid operations in OpenAPI'],
  ['bazaar-post-extensions', 'Bazaar extensions of POST'],
  ['well-known-x402', 'Manifest at /.well-known/x402'],
  ['llms-txt', 'Summary at /llms.txt'],
  ['agent-card', 'A2A agent card'],
  ['root-discoverable', 'Discovery from the root'],
  ['robots-ai-allow', 'AI agents in robots.txt'],
  ['dangling-refs', 'Links between documents'],
  ['favicon', 'Favicon'],
  ['x402scan-registered', 'Listing on x402scan'],
  ['x402scan-resources-fresh', 'Freshness on x402scan'],
  ['recent-settlement', 'Age of the last settlement'],
  ['onchain-adoption', 'Payers in 30 days'],
  ['x402-org-ecosystem', 'Listing on x402.org'],
]);

/** "Price integrity" for `price-integrity`; a slug that is not in the table is put in sentence case. */
export function toPhrase(slug: string): string {
  const words = slug.replaceAll('-', ' ');
  return PHRASES.get(slug) ?? `${words.slice(0, 1).toUpperCase()}${words.slice(1)}`;
}

/** "P6 Price integrity (price-integrity)" */
export function toCheckLabel({ id, title }: { readonly id: string; readonly title: string }) {
  return `${id} ${toPhrase(title)} (${title})`;
}
