/** Origins whose hostility is in the bytes around their answers. */
import type { Socket } from 'node:net';
import { type Behaviour, pour, startHostileOrigin } from '../../fixtures/origins/hostile-origin.ts';
import type { FarmOrigin } from '../farm-origin.ts';

const KIB = 1_024;
const MIB = KIB * KIB;
const OK = 'HTTP/1.1 200 OK\r\n';
const CHUNKED = `${OK}content-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n`;
const EMPTY = 'content-length: 0\r\n\r\n';
const NOT_FOUND = `HTTP/1.1 404 Not Found\r\n${EMPTY}`;

function wire(name: string, finding: string, behave: Behaviour): FarmOrigin {
  return { name, kind: 'wire', finding, start: () => startHostileOrigin(behave) };
}

/** Hostile wherever OpenAPI is looked for, and nothing anywhere else. */
function openApi(behave: (socket: Socket) => void): Behaviour {
  return (socket, { path }) => {
    if (/openapi|swagger/.test(path)) behave(socket);
    else socket.write(NOT_FOUND);
  };
}

function endless(start: string, part: string): Behaviour {
  return (socket) => {
    socket.write(start);
    pour(socket, part);
  };
}

/** 2 MiB in chunks of so many bytes. */
function inChunks(bytes: number): Behaviour {
  const chunk = `${bytes}\r\n${'{'.padEnd(bytes, 'a')}\r\n`;
  return openApi((socket) => {
    let left = 2 * MIB;
    const write = () => {
      while (left > 0 && !socket.destroyed) {
        const count = Math.min(4_096, Math.ceil(left / bytes));
        left -= count * bytes;
        if (!socket.write(chunk.repeat(count))) return;
      }
      if (left <= 0) socket.off('drain', write).write('0\r\n\r\n');
    };
    socket.write(CHUNKED);
    socket.on('drain', write);
    write();
  });
}

const CRUMBS = 'S1 fail unreadable';

export const WIRE_ORIGINS: readonly FarmOrigin[] = [
  ...[1, 2, 3].map((bytes) => wire(`sends 2 MiB in chunks of ${bytes}`, CRUMBS, inChunks(bytes))),
  ...[5, 7].map((bytes) => wire(`sends 2 MiB in chunks of ${bytes}`, CRUMBS, inChunks(bytes))),
  wire(
    'sends chunk extensions without end',
    'S1 fail unreadable',
    endless(`${CHUNKED}1;`, 'x'.repeat(16 * KIB)),
  ),
  wire(
    'sends a chunk extension with each byte',
    'S1 fail unreadable',
    endless(CHUNKED, `1;${'x'.repeat(400)}\r\na\r\n`.repeat(40)),
  ),
  wire(
    'sends blank lines in place of a status',
    'P1 fail silent',
    endless('', '\r\n'.repeat(8 * KIB)),
  ),
  wire('sends a chunk size of zeros', 'S1 fail unreadable', endless(CHUNKED, '0'.repeat(16 * KIB))),
  wire(
    'sends trailers without end',
    'P2 warn unread',
    endless(`${CHUNKED}0\r\n`, 'x-trailer: y\r\n'.repeat(1_000)),
  ),
  wire('sends eight interim answers of 60 KiB', 'P2 fail none-found', (socket) => {
    socket.write(`HTTP/1.1 103 Early Hints\r\nlink: ${'x'.repeat(60 * KIB)}\r\n\r\n`.repeat(8));
    socket.write(NOT_FOUND);
  }),
  wire('sends 129 headers', 'P1 fail silent', (socket) =>
    socket.write(`${OK}${'x: y\r\n'.repeat(128)}${EMPTY}`),
  ),
  wire('sends NUL in a header', 'P1 fail silent', (socket) =>
    socket.write(`${OK}x: a\0b\r\n${EMPTY}`),
  ),
  wire('sends two lengths', 'P1 fail silent', (socket) =>
    socket.write(`${OK}content-length: 2\r\ncontent-length: 9\r\n\r\nok`),
  ),
  wire('sends a negative length', 'P1 fail silent', (socket) =>
    socket.write(`${OK}content-length: -1\r\n\r\nok`),
  ),
  wire('sends a length and chunks', 'P1 fail silent', (socket) =>
    socket.write(
      `${OK}content-length: 2\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n`,
    ),
  ),
  wire('promises more than it sends', 'P2 warn unread', (socket) =>
    socket.end(`${OK}content-length: 100\r\n\r\nok`),
  ),
  wire('sends more than it promised', 'P2 fail none-found', (socket) =>
    socket.write(`${OK}content-length: 2\r\n\r\n${'ok'.repeat(5_000)}`),
  ),
  wire('switches protocols', 'P1 fail silent', (socket) =>
    socket.write('HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\n\r\n'),
  ),
  wire('speaks HTTP/2', 'P1 fail silent', (socket) =>
    socket.end(Buffer.from('000000040000000000', 'hex')),
  ),
  wire('answers each request seven times', 'P2 fail none-found', (socket) =>
    socket.write(NOT_FOUND.repeat(7)),
  ),
  wire('keeps sending blank lines after its answers', 'S1 fail absent', (socket) => {
    socket.write(NOT_FOUND);
    pour(socket, '\r\n'.repeat(8 * KIB));
  }),
];
