/** Sign-ins (specs/extensions/sign-in-with-x.md) whose message is made for another host. */
import { type JsonObject, jsonObject } from '../parse/json/json.ts';
import type { Kit } from '../parse/kit/kit.ts';

/** Both MUST be those of the host that asks: a wallet signs them. */
export function signInsElsewhere(
  extensions: JsonObject,
  hostname: string,
  kit: Kit,
): readonly string[] {
  const info = jsonObject(jsonObject(extensions['sign-in-with-x'])['info']);
  const { domain, uri } = info;
  const at = '/extensions/sign-in-with-x/info';
  const found: string[] = [];
  if (typeof domain === 'string' && hostOf(`https://${domain}`) !== hostname) {
    found.push(`${at}/domain: ${kit.show(domain)}`);
  }
  // A path is on the host that is asked.
  if (typeof uri === 'string' && !uri.startsWith('/') && hostOf(uri) !== hostname) {
    found.push(`${at}/uri: ${kit.show(uri)}`);
  }
  return found;
}

function hostOf(address: string): string | null {
  return URL.parse(address)?.hostname ?? null;
}
