/**
 * The result of a request to an origin. It is plain data: stored, sent to workers, replayed. A status of
 * 400 or more is an answer (`ok: true`); `ok: false` means that no answer was seen. A body that is too
 * long or breaks off gives `ok: true, truncated: true`, because headers count whatever becomes of the
 * body.
 */
export type FailureReason =
  | 'dns'
  /** The guard refused the host; nothing was dialled. */
  | 'blocked-address'
  | 'refused'
  | 'reset'
  | 'timeout'
  | 'tls-expired'
  | 'tls-self-signed'
  | 'tls-wrong-host'
  | 'tls-unknown-issuer'
  | 'tls-other'
  | 'malformed'
  | 'redirect-loop'
  | 'redirect-refused'
  | 'budget'
  | 'rate-limited';

export type AnswerObservation<T> = {
  readonly ok: true;
  readonly data: T;
  /** Milliseconds from the call to the end of the answer, waiting for a free connection included. */
  readonly ms: number;
  readonly truncated: boolean;
};

export type Failed = {
  readonly ok: false;
  readonly reason: FailureReason;
  /** One line for evidence. It never quotes the origin. */
  readonly detail: string;
  readonly ms: number;
};

export type Observation<T> = AnswerObservation<T> | Failed;

/** A redirect that was followed, or that closed a loop. */
export type Hop = { readonly url: string; readonly status: number; readonly location: string };

export type HttpMethod = 'GET' | 'HEAD' | 'POST';

export type HttpData = {
  /** URL of this answer, after redirects. */
  readonly url: string;
  readonly method: HttpMethod;
  readonly status: number;
  /** In the received order, names in lower case, repeated ones as separate entries. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** Decoded text; empty for HEAD, and if `binary` is set. */
  readonly body: string;
  /** Milliseconds from the request's start on its connection (opening it included) to the first byte. */
  readonly firstByteMs: number;
  readonly redirects: readonly Hop[];
  /** A redirect that was not followed; this answer is the redirect itself. */
  readonly refusedRedirect?: { readonly to: string; readonly why: string };
  /** The body contains a NUL byte, or its encoding could not be undone. */
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
