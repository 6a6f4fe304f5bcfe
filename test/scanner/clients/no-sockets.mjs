/** The thread of the clients loads this file first. It ends a thread that opens a socket. */
import dns from 'node:dns';
import net from 'node:net';

function refuse() {
  setImmediate(() => {
    throw new Error('a socket was opened');
  });
  throw new Error('a socket was opened');
}

net.Socket.prototype.connect = refuse;
dns.lookup = refuse;
dns.promises.lookup = refuse;
