import { OriginRefused } from './errors.ts';
import { exceptionKey, type OriginPolicy, parseOrigin } from './origin.ts';

/**
 * Parses exact exceptions to the egress guard, `localhost:3000,[::1]:8443`, from SCAN_ALLOW_HOSTS: these
 * may be http, loopback or private. Throws an Error with the entry; the caller adds the setting's name.
 */
export function parseAllowHosts(list: string): ReadonlySet<string> {
  const entries = list
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');
  return new Set(entries.map(canonicalEntry));
}

/**
 * Adds the input's host and port to the policy's exceptions, which may be http, loopback or private. A
 * bare host still means https. Throws OriginRefused.
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
  // `*` is in no host name and nothing listens on port 0, so neither entry could match.
  const isExact = port !== undefined && Number(port) > 0 && !/[/?#@%*\\\s]/.test(entry);
  if (!isExact || !URL.canParse(text)) {
    throw new Error(`"${entry}" is no exact host:port, such as localhost:3000 or [::1]:8443`);
  }
  return `${new URL(text).hostname}:${Number(port)}`;
}
