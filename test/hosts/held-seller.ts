/** A seller that answers when it is told to. */
import { type Seller, serve } from '../fixtures/sellers/seller.ts';

/** A seller that answers when it is told to, and counts who looks at it. */
export type HeldSeller = Seller & {
  /** `127.0.0.1:<port>`, as the directory knows it. */
  readonly host: string;
  /** One a scan: the root is asked once, and first. */
  scans(): number;
  /** Nothing is answered until `release`. */
  hold(): void;
  release(): void;
};

/** The seller sells badly. Instances share scans of such sellers too. */
export async function startHeldSeller(): Promise<HeldSeller> {
  let scans = 0;
  let gate: { readonly opened: Promise<void>; readonly open: () => void } | null = null;
  const seller = await serve((request, response) => {
    if (request.url === '/' && request.method === 'GET') scans += 1;
    const answer = () => {
      const isRoot = request.url === '/';
      response.writeHead(isRoot ? 200 : 404, { 'content-type': 'text/plain' });
      response.end(isRoot ? 'A seller of little.' : 'Nothing here.');
    };
    if (gate === null) answer();
    else gate.opened.then(answer);
  });
  return {
    ...seller,
    host: new URL(seller.url).host,
    scans: () => scans,
    hold() {
      const { promise, resolve } = Promise.withResolvers<void>();
      gate = { opened: promise, open: resolve };
    },
    release() {
      gate?.open();
      gate = null;
    },
  };
}
