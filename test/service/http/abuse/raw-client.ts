/** A client that sends bytes unchanged, and as slowly as a test wants. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';

export type RawClient = {
  readonly socket: Socket;
  send(bytes: string): void;
  /** All bytes that the server sends until it closes the connection. */
  readonly answer: Promise<string>;
};

export async function connectRaw(port: number): Promise<RawClient> {
  const socket = connect(port, '127.0.0.1');
  // A server that closes while this side still sends resets the connection.
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  return {
    socket,
    send: (bytes) => void socket.write(bytes),
    answer: text(socket).catch(() => ''),
  };
}

/** Sends one request unchanged, and resolves with the whole answer. */
export async function sendRaw(port: number, bytes: string): Promise<string> {
  const client = await connectRaw(port);
  client.send(bytes);
  return client.answer;
}
