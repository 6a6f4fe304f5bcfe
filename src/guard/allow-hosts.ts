/** Exact exceptions of the egress guard: hosts and ports that may be http, loopback or private. */
import { OriginRefused } from './errors.ts';
import { exceptionKey, type OriginPolicy, parseOrigin } from './origin.ts';

/**
 * Reads a list of exact exceptions, `localhost:3000,[::1]:8443`, as the setting SCAN_ALLOW_HOSTS
 * holds it. Throws an Error that names the entry; the caller names the setting.
 */
export function parseAllowHosts(list: string): ReadonlySet<string> {
  const entries = list
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');
  return new Set(entries.map(canonicalEntry));
}

/**
 * The policy plus one exception: the host and port of this input, which may then be http,
 * loopback or private. A bare host still means https. Throws OriginRefused.
 */
export function allowingOrigin(input: string, policy: OriginPolicy): OriginPolicy {
  const text = /^https?:\/\//i.test(input) ? input : `https://${input}`;
  if (!URL.canParse(text)) throw new OriginRefused('parse_error');
  const key = exceptionKey(new URL(text));
  const widened = { ...policy, allowHosts: new Set([...policy.allowHosts, key]) };
  parseOrigin(input, widened);
  return widened;
}

function canonicalEntry(entry: string): string {
  const port = /:(\d{1,5})$/.exec(entry)?.[1];
  const text = `http://${entry}/`;
  // `*` would be a name that no host has, and nothing listens on port 0: neither would ever match.
  const isExact = port !== undefined && Number(port) > 0 && !/[/?#@%*\\\s]/.test(entry);
  if (!isExact || !URL.canParse(text)) {
    throw new Error(`"${entry}" is no exact host:port, such as localhost:3000 or [::1]:8443`);
  }
  return `${new URL(text).hostname}:${Number(port)}`;
}
