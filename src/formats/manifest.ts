/** /.well-known/x402 in each shape that is in use (checks.md, "Known shapes"). */

export type ManifestEntry = {
  /** As written: an absolute URL, or a path. */
  readonly target: string;
  readonly pointer: string;
  readonly method: string | null;
  /** A dollar amount as a decimal, "$" and zeroes gone ("0.01"); null where none or not comparable. */
  readonly price: string | null;
  /** Base units as in an accepts entry; null where none. */
  readonly amount: string | null;
  readonly asset: string | null;
  readonly network: string | null;
  readonly payTo: string | null;
};

export type ManifestFacts =
  | {
      readonly shape: 'list' | 'discovery-document';
      readonly entries: readonly ManifestEntry[];
      readonly payTo: string | null;
    }
  | { readonly shape: 'unknown' };
