import { isIP } from 'node:net';
import { isBlockedAddress } from '../../guard/address.ts';
import { isSameHostname } from '../../guard/origin.ts';
import { type JsonValue, jsonObject, jsonText } from '../json/json.ts';
import { fillTemplate, MAX_ADDRESS_CHARS, toSegment } from './openapi-path.ts';

/** The server that gets the requests of an operation. */
type ServerTarget =
  /** The document's origin. `basePath` has no trailing slash. */
  | {
      readonly kind: 'own';
      readonly basePath: string;
      /** Position in `servers` of an entry that names a machine of the reader; null for other entries. */
      readonly localIndex: number | null;
    }
  | { readonly kind: 'elsewhere'; readonly origin: string };

/** `local`: the entry names a host that no buyer can reach, or the placeholder of a template. */
type ServerEntry =
  | { readonly kind: 'own'; readonly basePath: string }
  | { readonly kind: 'local'; readonly basePath: string }
  | { readonly kind: 'elsewhere'; readonly origin: string };

const MAX_SERVERS = 20;
const OWN_ROOT: ServerEntry = { kind: 'own', basePath: '' };

/**
 * Selects the first server on the document's origin, or else the first public server. Servers without a public host
 * mean the document's origin if no server is public. Variables take their defaults. An `http://` server with the
 * document's hostname counts as the document's origin, because a proxy may end TLS.
 */
export function selectServer(
  servers: readonly (JsonValue | undefined)[],
  documentUrl: string,
): ServerTarget {
  const entries = servers.slice(0, MAX_SERVERS).map((server) => readServer(server, documentUrl));
  const own = entries.find((entry) => entry.kind === 'own');
  if (own !== undefined) return toOwn(own.basePath, null);
  const elsewhere = entries.find((entry) => entry.kind === 'elsewhere');
  const localIndex = entries.findIndex(({ kind }) => kind === 'local');
  const local = entries[localIndex];
  // If sellers scan their own machine, a local server means that machine, whatever other servers the document names.
  const isLocalScan = isPrivateHost(new URL(documentUrl).hostname);
  if (local?.kind === 'local' && (isLocalScan || elsewhere === undefined)) {
    return toOwn(local.basePath, isLocalScan ? null : localIndex);
  }
  return elsewhere ?? toOwn('', null);
}

function toOwn(basePath: string, localIndex: number | null): ServerTarget {
  return { kind: 'own', basePath, localIndex };
}

function readServer(server: JsonValue | undefined, documentUrl: string): ServerEntry {
  const template = jsonText(jsonObject(server)['url']);
  if (template === null || template.length > MAX_ADDRESS_CHARS) return OWN_ROOT;
  const variables = jsonObject(jsonObject(server)['variables']);
  const toDefault = (name: string) => toSegment(jsonObject(variables[name])['default']) ?? '';
  const url = URL.parse(fillTemplate(template, toDefault), documentUrl);
  if (url?.protocol !== 'https:' && url?.protocol !== 'http:') return OWN_ROOT;
  const document = new URL(documentUrl);
  const isBehindProxy = document.protocol === 'https:' && url.protocol === 'http:';
  const isSamePort = url.port === document.port || isBehindProxy;
  const basePath = url.pathname.replace(/\/$/, '');
  if (isSameHostname(url.hostname, document.hostname) && isSamePort)
    return { kind: 'own', basePath };
  return isLocalHost(url.hostname, document.hostname)
    ? { kind: 'local', basePath }
    : { kind: 'elsewhere', origin: url.origin };
}

/** Last labels that no public DNS resolves (RFC 6761, RFC 6762, RFC 8375, and ICANN's .internal). */
const LOCAL_SUFFIX = /\.(?:localhost|local|localdomain|internal|intranet|lan|home\.arpa|cluster)$/;
/** IANA's example names (RFC 2606): "example.com", "api.example.org", "shop.example". */
const EXAMPLE_HOST = /(?:^|\.)example\.[a-z]{2,}$|^[^.]+\.example$/;
/** Labels that templates leave for the seller to fill in: "yourdomain", "api-your-app", "your_host", "changeme". */
const PLACEHOLDER_LABEL =
  /^(?:.*[-_])?your[-_].+$|^your(?:own)?(?:domain|site|web|host|app|api|server|compan|shop|store|service|url|project|name|sub|org|brand|endpoint|seller|business)|^my[-_]?(?:domain|hostname)$|^(?:changeme|change-me|placeholder|replace[-_]?me|todo|domain|subdomain|hostname)$/;

/** Returns true for loopback, unspecified and private addresses, and for names that public DNS does not resolve. */
function isPrivateHost(hostname: string): boolean {
  const host = toPlainHost(hostname);
  if (isIP(host) !== 0) return isBlockedAddress(host);
  return !host.includes('.') || LOCAL_SUFFIX.test(host);
}

/**
 * Returns true for a host that does not name another seller: a private host, or the placeholder of a template. If the
 * seller's own host is an example name, other example names count as hosts of sellers.
 */
export function isLocalHost(hostname: string, ownHostname = ''): boolean {
  if (isPrivateHost(hostname)) return true;
  if (EXAMPLE_HOST.test(toPlainHost(ownHostname))) return false;
  const host = toPlainHost(hostname);
  return EXAMPLE_HOST.test(host) || host.split('.').some((label) => PLACEHOLDER_LABEL.test(label));
}

function toPlainHost(hostname: string): string {
  return hostname
    .replace(/^\[|\]$/g, '')
    .replace(/\.$/, '')
    .toLowerCase();
}
