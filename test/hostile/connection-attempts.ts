/** Collects the addresses that threads connect to. Each such thread loads `watch-connections.ts`. */
import { BroadcastChannel } from 'node:worker_threads';

export const ATTEMPTS = 'connection attempts';
export const WATCH_FLAGS = ['--import', new URL('./watch-connections.ts', import.meta.url).href];

const LOOPBACK: ReadonlySet<string> = new Set(['127.0.0.1', '::1']);

/** Collects until it is asked. */
export function collectAttempts(): (own: readonly string[]) => readonly string[] {
  const attempts: { readonly address: string; readonly port: number }[] = [];
  const channel = new BroadcastChannel(ATTEMPTS);
  channel.onmessage = ({ data }: MessageEvent) => attempts.push(data);
  channel.unref();
  /** Those since it was asked last that went elsewhere than to the servers of these URLs, on loopback. */
  return (own) => {
    const ports = new Set(own.map((url) => Number(new URL(url).port)));
    return attempts
      .splice(0)
      .filter(({ address, port }) => !LOOPBACK.has(address) || !ports.has(port))
      .map(({ address, port }) => `${address}, port ${port}`);
  };
}
