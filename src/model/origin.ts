/** Lower-case A-label (or IP literal), no trailing dot, default port dropped: `example.com:8443`. */
export type CanonicalHost = string & { readonly __brand: 'CanonicalHost' };

export type Origin = {
  /** Without a trailing slash: `https://example.com`. */
  readonly url: string;
  readonly scheme: 'https' | 'http';
  /** Without brackets for an IPv6 literal. */
  readonly hostname: string;
  readonly port: number;
  readonly host: CanonicalHost;
};
