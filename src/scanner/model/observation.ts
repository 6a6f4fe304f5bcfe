export const TLS_FAILURES = [
  'tls-expired',
  'tls-self-signed',
  'tls-wrong-host',
  'tls-unknown-issuer',
  'tls-other',
] as const;

/**
 * The reason why a request to an origin has no answer. An observation is plain data that is stored, sent to
 * workers and replayed. A status of 400 or more is an answer (`ok: true`). A body that is too long or breaks
 * off gives `ok: true, truncated: true`, because the headers are complete.
 */
export type FailureReason =
  | 'dns'
  /** The guard refused the host; nothing was dialled. */
  | 'blocked-address'
  | 'refused'
  | 'reset'
  | 'timeout'
  | (typeof TLS_FAILURES)[number]
  | 'malformed'
  | 'redirect-loop'
  | 'redirect-refused'
  /** The origin's bytes, handshakes or slowness used up a budget of the scan. */
  | 'budget'
  /** Not sent, because the origin kept answering 429. */
  | 'rate-limited'
  /** Not sent, because the scan had sent as many requests as politeness allows. */
  | 'not-sent';

export type AnswerObservation<T> = {
  readonly ok: true;
  readonly data: T;
  /** Milliseconds from the call to the end of the answer, waiting for a free connection included. */
  readonly ms: number;
  readonly truncated: boolean;
};

export type FailedObservation = {
  readonly ok: false;
  readonly reason: FailureReason;
  /** One line for evidence. It never quotes the origin. */
  readonly detail: string;
  readonly ms: number;
};

export type Observation<T> = AnswerObservation<T> | FailedObservation;

/** A redirect that was followed, or that closed a loop. */
export type Hop = { readonly url: string; readonly status: number; readonly location: string };

export type HttpMethod = 'GET' | 'HEAD' | 'POST';

export type HttpData = {
  /** URL of this answer, after redirects. */
  readonly url: string;
  readonly method: HttpMethod;
  readonly status: number;
  /** In the received order, with names in lower case. Repeated headers are separate entries. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** Decoded text; empty for HEAD, and if `binary` is set. */
  readonly body: string;
  /** Milliseconds from the request's start on its connection (opening it included) to the first byte. */
  readonly firstByteMs: number;
  readonly redirects: readonly Hop[];
  /** A redirect that was not followed; this answer is the redirect itself. */
  readonly refusedRedirect?: { readonly to: string; readonly why: string };
  /** Set if the body contains a NUL byte, or could not be decoded. */
  readonly binary?: true;
  /** Reason why the body broke off, other than the size limit. */
  readonly bodyFailure?: FailureReason;
};

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

/** The `Origin` that browser probes send. RFC 2606 reserves `.invalid`, so no site can have it. */
export const BROWSER_ORIGIN = 'https://x402-scan.invalid';
