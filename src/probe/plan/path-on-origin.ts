import type { Kit } from '../../parse/kit/kit.ts';

/**
 * Path and query of an address on this origin, null on others. `http://` with the own host is the
 * same resource behind a proxy that ends TLS.
 */
export function pathOnOrigin(originUrl: string, target: string, kit: Kit): string | null {
  const origin = new URL(originUrl);
  const ownHttp = target.startsWith(`http://${origin.hostname}/`);
  const reference = ownHttp ? originUrl + target.slice(`http://${origin.hostname}`.length) : target;
  const url = kit.sameOrigin(originUrl, reference);
  if (url === null) return null;
  // WHATWG encodes the braces of a template; OpenAPI has them plain.
  return (url.pathname + url.search).replaceAll('%7B', '{').replaceAll('%7D', '}');
}
