/** Loaded into the thread of the clients before all else: says so where anything opens a socket. */
import dns from 'node:dns';
import net from 'node:net';
import { parentPort } from 'node:worker_threads';

function tell() {
  parentPort?.postMessage({ kind: 'broken', detail: 'a socket was opened' });
  throw new Error('a socket was opened');
}

net.Socket.prototype.connect = tell;
dns.lookup = tell;
dns.promises.lookup = tell;
