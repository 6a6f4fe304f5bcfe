import { type JsonObject, jsonObject } from '../parse/json/json.ts';
import type { Kit } from '../parse/kit/kit.ts';

/**
 * The message's domain and URI MUST be the asking host's (specs/extensions/sign-in-with-x.md), because a
 * wallet signs them.
 */
export function signInsElsewhere(
  extensions: JsonObject,
  hostname: string,
  kit: Kit,
): readonly string[] {
  const info = jsonObject(jsonObject(extensions['sign-in-with-x'])['info']);
  const { domain, uri } = info;
  const at = '/extensions/sign-in-with-x/info';
  const found: string[] = [];
  if (typeof domain === 'string' && parseHost(`https://${domain}`) !== hostname) {
    found.push(`${at}/domain: ${kit.show(domain)}`);
  }
  // A relative path is on the asking host.
  if (typeof uri === 'string' && !uri.startsWith('/') && parseHost(uri) !== hostname) {
    found.push(`${at}/uri: ${kit.show(uri)}`);
  }
  return found;
}

function parseHost(address: string): string | null {
  return URL.parse(address)?.hostname ?? null;
}
