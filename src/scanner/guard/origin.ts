import { isIP } from 'node:net';
import type { CanonicalHost, Origin } from '../model/observation.ts';
import { isBlockedAddress } from './address.ts';
import { OriginRefused } from './failures.ts';

export type { CanonicalHost, Origin } from '../model/observation.ts';

export type OriginPolicy = {
  readonly allowedPorts: readonly number[];
  /** Exact `host:port` exceptions. They may use http, any port, a single label, and a loopback or private address. */
  readonly allowHosts: ReadonlySet<string>;
};

export const DEFAULT_POLICY: OriginPolicy = { allowedPorts: [443], allowHosts: new Set() };

const MAX_URL_CHARS = 2_048;
const MAX_HOST_CHARS = 253;
const LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
/** Spaces, control characters and backslashes. */
const UNSAFE_CHARS = /[\u0000-\u0020\u007f-\u00a0\\]/;
/** Matches a host without scheme, with or without port and path: `example.com`, `[2001:db8::1]:443/x`. */
const BARE_HOST = /^(?:\[[^\]/?#]*\]|[^:/?#[\]]+)(?::\d+)?(?:[/?#]|$)/;

/** Matches the usual input, canonical names: lower case, with a last label that is not a number. */
const PLAIN_NAME = /^(?:https:\/\/)?((?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,63})\/?$/;

/**
 * Last labels without public hosts: IANA special-use names (RFC 6761, 6762, 7686, 8375, 9476), ICANN's
 * .internal, and suffixes that local resolvers answer.
 */
const SPECIAL_USE_LABELS: ReadonlySet<string> = new Set(
  'localhost local internal intranet lan home corp private test invalid example onion alt arpa i2p localdomain svc cluster consul'.split(
    ' ',
  ),
);

/**
 * Parses an https URL or a bare host; path, query and fragment are dropped. A bare host means https, even
 * for a policy exception. Throws OriginRefused.
 */
export function parseOrigin(input: string, policy: OriginPolicy = DEFAULT_POLICY): Origin {
  const plain = parsePlainName(input, policy);
  if (plain !== null) return plain;
  const isBare = typeof input === 'string' && BARE_HOST.test(input);
  return toOrigin(validateUrl(isBare ? `https://${input}` : input, policy));
}

/** Parses a plain name at a tenth of the cost of `URL`. Returns null if the full parser must decide. */
function parsePlainName(input: string, { allowedPorts }: OriginPolicy): Origin | null {
  const host = typeof input === 'string' ? PLAIN_NAME.exec(input)?.[1] : undefined;
  if (host === undefined || host.length > MAX_HOST_CHARS) return null;
  // Punycode needs the full parser.
  if (host.includes('xn--') || !allowedPorts.includes(443)) return null;
  if (SPECIAL_USE_LABELS.has(host.slice(host.lastIndexOf('.') + 1))) return null;
  const url = `https://${host}`;
  return { url, scheme: 'https', hostname: host, port: 443, host: host as CanonicalHost }; // `PLAIN_NAME` matches canonical names only
}

/** Parses a URL that the scanner may request. Nothing is trimmed or repaired. Throws OriginRefused. */
export function validateUrl(input: string, policy: OriginPolicy = DEFAULT_POLICY): URL {
  const url = parseStrictly(input);
  // WHATWG accepts "127.0.0.1.." as a name, but "127.0.0.1." is an address.
  if (url.hostname.endsWith('..')) throw new OriginRefused('bad_label');
  // One trailing dot names the same host, but is invalid in SNI and would make a second host key.
  if (url.hostname.endsWith('.')) url.hostname = removeDot(url.hostname);
  if (policy.allowHosts.has(toExceptionKey(url))) return url;
  if (url.protocol !== 'https:') throw new OriginRefused('scheme_or_form');
  if (!policy.allowedPorts.includes(toPort(url))) {
    const ports = policy.allowedPorts.join(', ');
    throw new OriginRefused(
      'port',
      `The port is not allowed: origins are scanned on port ${ports}.`,
    );
  }
  requirePublicHost(removeBrackets(url.hostname));
  return url;
}

/** `url` must come from `validateUrl`. */
export function toOrigin(url: URL): Origin {
  return {
    url: url.origin,
    scheme: url.protocol === 'http:' ? 'http' : 'https',
    hostname: removeBrackets(url.hostname),
    port: toPort(url),
    host: url.host as CanonicalHost, // WHATWG's canonical form
  };
}

/** The `host:port` key of an exception in a policy. */
export function toExceptionKey(url: URL): string {
  return `${removeDot(url.hostname)}:${toPort(url)}`;
}

/** One trailing dot names the same host. `validateUrl` refuses two. */
function removeDot(hostname: string): string {
  return hostname.replace(/(?<!\.)\.$/, '');
}

/** Returns true for an exact exception of the policy. */
export function isAllowedException(origin: Origin, policy: OriginPolicy): boolean {
  return policy.allowHosts.has(toExceptionKey(new URL(origin.url)));
}

/** Checks the raw text for parts that WHATWG parsing would normalise away. */
function parseStrictly(input: string): URL {
  if (typeof input !== 'string' || input.length > MAX_URL_CHARS) {
    throw new OriginRefused('not_a_string_or_too_long');
  }
  if (UNSAFE_CHARS.test(input)) throw new OriginRefused('control_space_or_backslash');
  const authority = /^https?:\/\/([^/?#]+)/i.exec(input)?.[1];
  if (authority === undefined) throw new OriginRefused('scheme_or_form');
  if (authority.includes('@')) throw new OriginRefused('userinfo');
  if (!URL.canParse(input)) throw new OriginRefused('parse_error');
  if (authority.includes('%')) throw new OriginRefused('percent_in_host');
  return new URL(input);
}

/** Checks the canonical host, because `①②⑦.⓪.⓪.①`, `0x7f.1` and `127.0.0.1` are the same address. */
function requirePublicHost(hostname: string): void {
  if (isIP(hostname) !== 0) {
    if (isBlockedAddress(hostname)) throw new OriginRefused('blocked_ip');
    return;
  }
  if (hostname.length > MAX_HOST_CHARS) throw new OriginRefused('host_too_long');
  const labels = hostname.split('.');
  if (!labels.every((label) => LABEL.test(label))) throw new OriginRefused('bad_label');
  if (SPECIAL_USE_LABELS.has(labels.at(-1) ?? '')) throw new OriginRefused('special_use_name');
  if (labels.length === 1) throw new OriginRefused('single_label');
}

function toPort(url: URL): number {
  if (url.port !== '') return Number(url.port);
  return url.protocol === 'http:' ? 80 : 443;
}

function removeBrackets(hostname: string): string {
  return hostname.replace(/^\[|\]$/g, '');
}

const ABSOLUTE_URL = /^[a-z][a-z0-9+.-]*:/i;

/**
 * Resolves a `Location` or a link against its document and validates it like typed input. A reference
 * with its own authority is validated as written, because resolving would normalise user info,
 * backslashes and percent-encoded hosts away. Throws OriginRefused.
 */
export function resolveReference(reference: string, base: URL, policy: OriginPolicy): URL {
  if (ABSOLUTE_URL.test(reference)) return validateUrl(reference, policy);
  if (/^[\\/]{2}/.test(reference)) return validateUrl(`${base.protocol}${reference}`, policy);
  if (UNSAFE_CHARS.test(reference)) throw new OriginRefused('control_space_or_backslash');
  if (!URL.canParse(reference, base.href)) throw new OriginRefused('parse_error');
  return validateUrl(new URL(reference, base).href, policy);
}

const LOOPBACK_NAMES: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '::1', '[::1]']);

/**
 * The names of loopback are one host: a document says "localhost", and a scan was given 127.0.0.1. An IPv6 address has
 * brackets in a URL, and none in an origin.
 */
export function isSameHostname(left: string, right: string): boolean {
  const [leftName, rightName] = [removeBrackets(left), removeBrackets(right)];
  return leftName === rightName || (LOOPBACK_NAMES.has(leftName) && LOOPBACK_NAMES.has(rightName));
}

/**
 * Writes the origin's own name into a URL that names loopback differently, on the origin's port. Returns any other text
 * unchanged.
 */
function renameLoopback(candidate: string, origin: Origin): string {
  if (!LOOPBACK_NAMES.has(origin.hostname)) return candidate;
  const url = ABSOLUTE_URL.test(candidate) ? URL.parse(candidate) : null;
  const isAlias =
    url !== null && LOOPBACK_NAMES.has(url.hostname) && url.username === '' && url.password === '';
  if (!isAlias || toPort(url) !== origin.port || url.origin === origin.url) return candidate;
  return url.protocol === `${origin.scheme}:`
    ? origin.url + url.href.slice(url.origin.length)
    : candidate;
}

/**
 * Resolves a URL that a document holds. Returns null if it is not on `origin`. A URL from a document may
 * be requested only after this check. `base` is the document's URL, for relative references.
 */
export function resolveSameOrigin(origin: Origin, candidate: string, base?: URL): URL | null {
  const root = new URL(`${origin.url}/`);
  const onlyThisHost: OriginPolicy = {
    allowedPorts: [],
    allowHosts: new Set([toExceptionKey(root)]),
  };
  try {
    const url = resolveReference(renameLoopback(candidate, origin), base ?? root, onlyThisHost);
    return url.origin === origin.url ? url : null;
  } catch (error) {
    if (error instanceof OriginRefused) return null;
    throw error;
  }
}

/**
 * Parses SCAN_ALLOW_HOSTS, the exact exceptions to the egress guard: `localhost:3000,[::1]:8443`. They may
 * be http, loopback or private. Throws an Error with the entry; the caller adds the setting's name.
 */
export function parseAllowHosts(list: string): ReadonlySet<string> {
  const entries = list
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');
  return new Set(entries.map(parseException));
}

/**
 * Adds the input's host and port to the policy's exceptions, which may be http, loopback or private. A
 * bare host still means https. Throws OriginRefused.
 */
export function allowOrigin(input: string, policy: OriginPolicy): OriginPolicy {
  const text = /^https?:\/\//i.test(input) ? input : `https://${input}`;
  if (!URL.canParse(text)) throw new OriginRefused('parse_error');
  const key = toExceptionKey(new URL(text));
  const widened = { ...policy, allowHosts: new Set([...policy.allowHosts, key]) };
  parseOrigin(input, widened);
  return widened;
}

function parseException(entry: string): string {
  const port = /:(\d{1,5})$/.exec(entry)?.[1];
  const text = `http://${entry}/`;
  // No host name has a `*` and nothing listens on port 0, so such entries could not match.
  const isExact = port !== undefined && Number(port) > 0 && !/[/?#@%*\\\s]/.test(entry);
  if (!isExact || !URL.canParse(text)) {
    throw new Error(`"${entry}" is not an exact host:port, such as localhost:3000 or [::1]:8443`);
  }
  return toExceptionKey(new URL(text));
}
