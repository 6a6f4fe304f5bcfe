/** A client that sends bytes as they are, and as slowly as it likes. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';

export type RawClient = {
  readonly socket: Socket;
  send(bytes: string): void;
  /** All that the server says until it closes. */
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

/** One request as it is, and the whole answer. */
export async function sendRaw(port: number, bytes: string): Promise<string> {
  const client = await connectRaw(port);
  client.send(bytes);
  return client.answer;
}
