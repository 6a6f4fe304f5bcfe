import type { Socket } from 'node:net';

/**
 * The end of a connection is seen after the beginning of the one that takes its place, and later
 * still by a server that is busy sending: only those that stay open together are counted.
 */
const TOGETHER_MS = 500;

export type SocketCount = {
  /** May be called again for the same socket. */
  add(socket: Socket): void;
  /** The most that were open together for longer than a moment. */
  peak(): number;
};

export function countSockets(): SocketCount {
  const open = new Set<Socket>();
  let peak = 0;
  return {
    add(socket) {
      if (open.has(socket)) return;
      open.add(socket);
      for (const event of ['end', 'close']) socket.once(event, () => open.delete(socket));
      const together = [...open];
      const measure = () => {
        peak = Math.max(peak, together.filter((one) => open.has(one)).length);
      };
      setTimeout(measure, TOGETHER_MS).unref();
    },
    peak: () => peak,
  };
}
