import type { FastifyReply } from 'fastify';

/** Aborts when the client disconnects before its answer was written. */
export function disconnectSignal({ raw }: FastifyReply): AbortSignal {
  const disconnect = new AbortController();
  const onClose = () => {
    if (!raw.writableFinished) disconnect.abort();
  };
  raw.once('close', onClose);
  // The socket may have closed while the body was read.
  if (raw.destroyed || raw.socket?.destroyed) onClose();
  return disconnect.signal;
}
