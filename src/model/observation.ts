/**
 * What a request to an origin left behind. Plain data: it is stored, sent to workers and replayed.
 *
 * An HTTP status of 400 or more is an answer (`ok: true`). `ok: false` means that no answer was
 * seen at all. A body that is too long or breaks off is `ok: true, truncated: true`: a header is
 * read whatever becomes of the body.
 */
export type FailureReason =
  | 'dns'
  /** The guard refuses the host: nothing was dialled. */
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

export type Seen<T> = {
  readonly ok: true;
  readonly data: T;
  /** From the call to the end of the answer, waiting for a free connection included. */
  readonly ms: number;
  readonly truncated: boolean;
};

export type Failed = {
  readonly ok: false;
  readonly reason: FailureReason;
  /** One line for evidence; holds no text that the origin chose. */
  readonly detail: string;
  readonly ms: number;
};

export type Observation<T> = Seen<T> | Failed;

/** A redirect that was followed, or that closed a loop. */
export type Hop = { readonly url: string; readonly status: number; readonly location: string };

export type HttpMethod = 'GET' | 'HEAD' | 'POST';

export type HttpData = {
  /** The URL that gave this answer, after the redirects. */
  readonly url: string;
  readonly method: HttpMethod;
  readonly status: number;
  /** As received, names in lower case, repeated ones as separate entries. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** Decoded text; empty for HEAD and where `binary` is set. */
  readonly body: string;
  /** From the moment the request got its connection (opening it included) to the first byte. */
  readonly firstByteMs: number;
  readonly redirects: readonly Hop[];
  /** A hop that was not taken, or led nowhere; this answer is the redirect itself. */
  readonly refusedRedirect?: { readonly to: string; readonly why: string };
  /** The body is no text (a NUL byte), or its encoding could not be undone. */
  readonly binary?: true;
  /** Why the body broke off, where it was not the size limit. */
  readonly bodyFailure?: FailureReason;
};
