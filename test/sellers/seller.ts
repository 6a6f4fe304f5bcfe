import { once } from 'node:events';
import { createServer as createHttpServer, type RequestListener } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { ServerCertificate } from '../tls/test-ca.ts';

/** Who is paid: an account that no test holds a key of. */
export const SELLER_PAY_TO = '0x2222222222222222222222222222222222222222';

/** A server on a free port of 127.0.0.1. */
export interface Seller {
  /** Without a slash at the end: "http://127.0.0.1:40123". */
  url: string;
  stop(): Promise<void>;
}

/** Serves over TLS where a certificate is given; it must name 127.0.0.1 or a host that leads there. */
export async function serve(listener: RequestListener, tls?: ServerCertificate): Promise<Seller> {
  const server = tls ? createHttpsServer(tls, listener) : createHttpServer(listener);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the seller has no port');
  return {
    url: `${tls ? 'https' : 'http'}://127.0.0.1:${address.port}`,
    async stop() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
