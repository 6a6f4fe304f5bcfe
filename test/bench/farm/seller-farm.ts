/** Many sellers in a process of their own. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

export type SellerKind = 'good' | 'hostile';

export type FarmOrder = {
  readonly kind: SellerKind;
  readonly count: number;
  /** Before each answer of a good seller. */
  readonly delayMs: number;
};

/** Sellers in a process of their own, so that what they cost is not counted as ours. */
export type SellerFarm = AsyncDisposable & {
  readonly urls: readonly string[];
};

export async function startFarm(order: FarmOrder): Promise<SellerFarm> {
  const file = fileURLToPath(new URL('farm-process.ts', import.meta.url));
  const child = fork(file, [JSON.stringify(order)]);
  const exited = once(child, 'exit');
  const urls = await Promise.race([
    once(child, 'message').then(([message]) => message as readonly string[]), // as it sends them
    exited.then(([code]) => {
      throw new Error(`the sellers ended with ${code} before they listened`);
    }),
  ]);
  return {
    urls,
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await exited;
    },
  };
}
