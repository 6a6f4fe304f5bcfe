/** Loaded by `--import` into a thread: tells of every connection that it attempts, whoever asks for it. */
import { Socket } from 'node:net';
import { BroadcastChannel } from 'node:worker_threads';
import { ATTEMPTS } from './connection-attempts.ts';

const channel = new BroadcastChannel(ATTEMPTS);
channel.unref();
const { connect } = Socket.prototype;
Socket.prototype.connect = function watched(this: Socket, ...args: unknown[]): Socket {
  this.on('connectionAttempt', (address: string, port: number) => {
    channel.postMessage({ address, port });
  });
  return Reflect.apply(connect, this, args);
};
