/** Whose word on the address of a client counts. */
import proxyAddress from '@fastify/proxy-addr';

/** Far more than a service has proxies; connections of clients that come past them are counted, too. */
const MAX_REMEMBERED = 1_000;

/** Judges each address once, as Fastify would at every look at the address of a client. */
export function trustedProxies(blocks: readonly string[]): (address: string) => boolean {
  const isTrusted = proxyAddress.compile([...blocks]);
  const known = new Map<string, boolean>();
  return (address) => {
    const found = known.get(address);
    if (found !== undefined) return found;
    const judged = isTrusted(address, 0);
    if (known.size >= MAX_REMEMBERED) known.clear();
    known.set(address, judged);
    return judged;
  };
}
