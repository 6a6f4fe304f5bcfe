import { isIP } from 'node:net';
import { isBlockedAddress } from '../guard/address.ts';
import { UsageError } from './usage-error.ts';

/** Names that resolve only on the scanned machine or in its network. */
const LOCAL_NAME =
  /^[^.]+$|(?:^|\.)(?:localhost|local|internal|intranet|lan|home|corp|private|test|invalid|home\.arpa)$/;

/** Parses `--public-url`. Throws UsageError for anything but an origin. */
export function parsePublicUrl(text: string): string {
  const url = URL.parse(text);
  const isOrigin =
    url !== null &&
    /^https?:$/.test(url.protocol) &&
    url.username === '' &&
    url.password === '' &&
    `${url.pathname}${url.search}${url.hash}` === '/';
  if (!isOrigin) {
    throw new UsageError(
      `--public-url ${JSON.stringify(text)}: give scheme and host alone, such as https://api.example.com`,
    );
  }
  return url.origin;
}

/** The origin of a report; null for a local or private address, which buyers cannot reach. */
export function findPublicOrigin(origin: string): string | null {
  const hostname = URL.parse(origin)?.hostname.replace(/\.$/, '') ?? '';
  const address = hostname.replace(/^\[|\]$/g, '');
  const isLocal = isIP(address) === 0 ? LOCAL_NAME.test(hostname) : isBlockedAddress(address);
  return isLocal ? null : origin;
}
