import type { FailureReason } from '../model/observation.ts';

export type RequestFailure = {
  readonly reason: FailureReason;
  readonly detail: string;
  /** Tells the operator what to do. Present if this machine or this program is at fault, and the origin is not. */
  readonly remedy?: string;
};

/** The prober itself ended the request, because of a deadline, a cap or the guard. */
export class ProbeFailure extends Error {
  readonly reason: FailureReason;
  readonly detail: string;

  constructor(reason: FailureReason, detail: string) {
    super(`${reason}: ${detail}`);
    this.name = 'ProbeFailure';
    this.reason = reason;
    this.detail = detail;
  }
}

const CHECK_NETWORK = 'check the network of this machine, and try again';
const REDUCE_LOAD = 'reduce the load of this machine, or raise its limits, and try again';
const REPORT_DEFECT = 'this is a defect of the scanner, so report it';

/**
 * This machine, its network, its resolver or this program failed, which says nothing about the origin. The scan is
 * aborted, and no payer may be charged.
 */
export class OurFault extends Error {
  readonly detail: string;
  readonly remedy: string;

  constructor(detail: string, remedy: string = CHECK_NETWORK) {
    super(`${detail}: ${remedy}`);
    this.name = 'OurFault';
    this.detail = detail;
    this.remedy = remedy;
  }
}

/** Replaces the code ENETUNREACH if this machine has no route to the address. Otherwise a router sent ENETUNREACH. */
export const NO_OWN_ROUTE = 'NO_OWN_ROUTE';

const INVALID_HTTP: RequestFailure = {
  reason: 'malformed',
  detail: 'the answer is not a valid HTTP/1.1 response',
};
const CUT_ANSWER: RequestFailure = {
  reason: 'reset',
  detail: 'connection closed in the middle of an answer',
};
const UNKNOWN_ISSUER: RequestFailure = {
  reason: 'tls-unknown-issuer',
  detail: 'the issuer is unknown (is the intermediate certificate served?)',
};

/**
 * Failures by the error codes of Node, OpenSSL and undici. Their messages quote certificates and responses,
 * which the origin wrote, so our own texts replace them.
 */
const FAILURES_BY_CODE: Readonly<Record<string, RequestFailure>> = {
  ECONNREFUSED: { reason: 'refused', detail: 'connection refused' },
  EHOSTUNREACH: { reason: 'refused', detail: 'no route to the address' },
  ENETUNREACH: { reason: 'refused', detail: 'no route to the network of the address' },
  ECONNRESET: { reason: 'reset', detail: 'connection reset' },
  ECONNABORTED: { reason: 'reset', detail: 'connection aborted' },
  EPIPE: { reason: 'reset', detail: 'connection closed while the request was sent' },
  UND_ERR_SOCKET: { reason: 'reset', detail: 'connection closed before the answer was complete' },
  HPE_INVALID_EOF_STATE: CUT_ANSWER,
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: {
    reason: 'malformed',
    detail: 'the body is not as long as Content-Length says',
  },
  ETIMEDOUT: { reason: 'timeout', detail: 'no connection in time' },
  UND_ERR_HEADERS_OVERFLOW: { reason: 'malformed', detail: 'headers exceed 64 KiB' },
  CERT_HAS_EXPIRED: { reason: 'tls-expired', detail: 'the certificate has expired' },
  CERT_NOT_YET_VALID: { reason: 'tls-expired', detail: 'the certificate is not valid yet' },
  DEPTH_ZERO_SELF_SIGNED_CERT: {
    reason: 'tls-self-signed',
    detail: 'the certificate is self-signed',
  },
  SELF_SIGNED_CERT_IN_CHAIN: {
    reason: 'tls-unknown-issuer',
    detail: 'the chain ends in a root that is not trusted',
  },
  UNABLE_TO_GET_ISSUER_CERT: {
    reason: 'tls-unknown-issuer',
    detail: 'the issuer of a certificate in the chain is unknown',
  },
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: UNKNOWN_ISSUER,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: UNKNOWN_ISSUER,
  ERR_TLS_CERT_ALTNAME_INVALID: {
    reason: 'tls-wrong-host',
    detail: 'the certificate is for another host',
  },
};

/** Errors that this machine or our HTTP client raises before a packet leaves. A network cannot send them. */
const OUR_FAULTS_BY_CODE: Readonly<Record<string, { detail: string; remedy: string }>> = {
  EMFILE: { detail: 'this process has too many open files', remedy: REDUCE_LOAD },
  ENFILE: { detail: 'this machine has too many open files', remedy: REDUCE_LOAD },
  ENOBUFS: { detail: 'this machine has no room for a connection', remedy: REDUCE_LOAD },
  ENOMEM: { detail: 'this machine has no memory for a connection', remedy: REDUCE_LOAD },
  EADDRNOTAVAIL: { detail: 'this machine has no address or port left', remedy: REDUCE_LOAD },
  EAFNOSUPPORT: {
    detail: 'this machine has no network of this address family',
    remedy: CHECK_NETWORK,
  },
  EPERM: { detail: 'a firewall of this machine forbids the connection', remedy: CHECK_NETWORK },
  UND_ERR_INVALID_ARG: {
    detail: 'our HTTP client refuses to send the request',
    remedy: REPORT_DEFECT,
  },
  [NO_OWN_ROUTE]: { detail: 'this machine has no route to the address', remedy: CHECK_NETWORK },
};

const TLS_CODE =
  /^(?:ERR_SSL|ERR_TLS|ERR_OSSL|CERT_|EPROTO|CRL_|UNABLE_TO_|INVALID_CA|INVALID_PURPOSE|HOSTNAME_MISMATCH|PATH_LENGTH_EXCEEDED)/;

/** Errors that only a fault in our code or in a library raises. */
const PROGRAM_ERRORS = [TypeError, RangeError, ReferenceError, SyntaxError];

/**
 * Assertions of undici that an origin breaks by its answer: a status below 100, and a 101 without `Upgrade`. All other
 * assertions concern undici's own state, so the fault is ours.
 */
const ASSERTIONS_ON_ANSWERS = /\bassert\((?:statusCode >= 100|upgrade)\)/;

/** Maps an error of a connection or a response to a failure. A failure of ours has a `remedy`. */
export function classifyFailure(error: unknown): RequestFailure {
  if (error instanceof ProbeFailure) return { reason: error.reason, detail: error.detail };
  const code = readCode(error);
  // undici has the same code for closed connections and for invalid responses.
  if (code === 'UND_ERR_SOCKET' && /^bad /.test(readMessage(error))) return INVALID_HTTP;
  const ourFault = OUR_FAULTS_BY_CODE[code];
  if (ourFault) return { ...ourFault, reason: 'refused', detail: `${ourFault.detail} (${code})` };
  const failure = FAILURES_BY_CODE[code];
  if (failure) return failure;
  if (TLS_CODE.test(code)) return { reason: 'tls-other', detail: `TLS failed (${code})` };
  if (isParserError(error)) {
    return readMessage(error).includes('Invalid EOF') ? CUT_ANSWER : INVALID_HTTP;
  }
  if (isProgramError(error)) {
    const detail = `our HTTP client failed (${error.name})`;
    return { reason: 'reset', detail, remedy: REPORT_DEFECT };
  }
  return { reason: 'reset', detail: `the connection failed (${code || 'no code'})` };
}

/** Matches by name, because the code of a parser error depends on undici's build. */
function isParserError(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error.name === 'AssertionError') return ASSERTIONS_ON_ANSWERS.test(error.message);
  return error.name === 'HTTPParserError';
}

function isProgramError(error: unknown): error is Error {
  if (!(error instanceof Error)) return false;
  return error.name === 'AssertionError' || PROGRAM_ERRORS.some((kind) => error instanceof kind);
}

function readCode(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code ?? '') : '';
}

function readMessage(error: unknown): string {
  return error instanceof Error ? error.message : '';
}

/** Default message of each reason. The names of reasons never change, because clients compare them. */
const REFUSAL_MESSAGES = {
  not_a_string_or_too_long: 'The URL must be text of at most 2048 characters.',
  control_space_or_backslash:
    'The URL holds a space, a control character or a backslash: remove it, or percent-encode it in the path.',
  scheme_or_form: 'Give an https URL such as https://api.example.com, or a bare host name.',
  userinfo: 'The URL carries user information before "@": give only the host.',
  parse_error: 'The URL cannot be parsed: give one such as https://api.example.com.',
  percent_in_host: 'The host is percent-encoded: give it in plain characters.',
  port: 'The port is not allowed: origins are scanned on port 443.',
  host_too_long: 'The host name has more than 253 characters.',
  bad_label:
    'The host name has a label that is empty, over 63 characters, starts or ends with a hyphen, or holds other characters than letters, digits and hyphens.',
  special_use_name: 'The host is a special-use name that does not exist on the public internet.',
  single_label:
    'The host is a single label, not a full name: give a public name such as api.example.com.',
  blocked_ip:
    'The host is, or resolves to, an address that is not on the public internet: give a public host.',
};

export type RefusalReason = keyof typeof REFUSAL_MESSAGES;

/** The scanner refuses the input or host before anything is charged. The API answers 400. */
export class OriginRefused extends Error {
  readonly code = 'invalid_url';
  readonly reason: RefusalReason;

  constructor(reason: RefusalReason, message: string = REFUSAL_MESSAGES[reason]) {
    super(message);
    this.name = 'OriginRefused';
    this.reason = reason;
  }
}
