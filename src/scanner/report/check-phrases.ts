/** Headings for people, by the slug in the member `title` of a result. A heading must not read like a verdict. */
const HEADINGS: ReadonlyMap<string, string> = new Map([
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

/** "Price integrity" for `price-integrity`. A slug that is not in the table becomes words in sentence case. */
export function toHeading(slug: string): string {
  const words = slug.replaceAll('-', ' ');
  return HEADINGS.get(slug) ?? `${words.slice(0, 1).toUpperCase()}${words.slice(1)}`;
}

/** "P6 Price integrity (price-integrity)" */
export function toCheckLabel({ id, title }: { readonly id: string; readonly title: string }) {
  return `${id} ${toHeading(title)} (${title})`;
}

/** "P2 to P8, S1, S3": three or more consecutive ids become a range. `ids` are in the order of a report. */
export function toIdRanges(ids: readonly string[]): string {
  const runs: string[][] = [];
  for (const id of ids) {
    const run = runs.at(-1);
    if (run !== undefined && isNextId(run.at(-1) ?? '', id)) run.push(id);
    else runs.push([id]);
  }
  return runs.flatMap((run) => (run.length < 3 ? run : [`${run[0]} to ${run.at(-1)}`])).join(', ');
}

function isNextId(before: string, id: string): boolean {
  return before.charAt(0) === id.charAt(0) && Number(before.slice(1)) + 1 === Number(id.slice(1));
}

/** Checks that were not evaluated, by the id of the failed check that prevented them. */
type UnevaluatedByCause = ReadonlyMap<string, readonly { readonly id: string }[]>;

/** "19 not evaluated because of P1". If P1 is the only failed check, "it" replaces "P1". */
export function formatUnevaluated(
  unevaluatedByCause: UnevaluatedByCause,
  failedIds: readonly string[],
): string {
  const onlyFailedId = failedIds.length === 1 ? failedIds[0] : undefined;
  return [...unevaluatedByCause]
    .map(([cause, checks]) => {
      const isOnly = unevaluatedByCause.size === 1 && onlyFailedId === cause;
      return `${checks.length} not evaluated because of ${isOnly ? 'it' : cause}`;
    })
    .join(', ');
}
