/** What hostile origins do, by name: none of it may cost a scan more than its own grade. */
import { type Behaviour, drip, pour } from './hostile-origin.ts';

const DRIP_MS = 100;
const OK = 'HTTP/1.1 200 OK\r\n';

/** Nothing of what these send is ever a whole answer. */
export const BROKEN = {
  'accepts and says nothing': () => {},
  'hangs after the headers': (socket) => socket.write(`${OK}content-length: 100\r\n\r\n`),
  'drips a body': (socket) => {
    socket.write(`${OK}content-type: application/json\r\ncontent-length: 100000\r\n\r\n`);
    drip(socket, 'z', DRIP_MS);
  },
  'drips chunks': (socket) => {
    socket.write(`${OK}transfer-encoding: chunked\r\n\r\n`);
    drip(socket, '1\r\nz\r\n', DRIP_MS);
  },
  'drips headers': (socket) => {
    socket.write(OK);
    drip(socket, 'x: y\r\n', DRIP_MS);
  },
  'drips 1xx answers': (socket) => drip(socket, 'HTTP/1.1 102 Processing\r\n\r\n', DRIP_MS),
  resets: (socket) => socket.resetAndDestroy(),
  'resets in the middle of a header': (socket) =>
    socket.write(`${OK}content-ty`, () => socket.resetAndDestroy()),
  'talks another protocol': (socket) => socket.end('SSH-2.0-OpenSSH_9.9\r\n'),
  'sends headers without end': (socket) => {
    socket.write(OK);
    pour(socket, 'x-padding: yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy\r\n'.repeat(200));
  },
  'sends one header without end': (socket) => {
    socket.write(`${OK}x: `);
    pour(socket, 'y'.repeat(16_384));
  },
  'sends chunks without end': (socket) => {
    socket.write(`${OK}transfer-encoding: chunked\r\n\r\n`);
    pour(socket, `4000\r\n${'z'.repeat(0x4000)}\r\n`);
  },
  'sends a chunk size that is none': (socket) =>
    socket.write(`${OK}transfer-encoding: chunked\r\n\r\nffffffffffffffffff\r\n`),
  'leads from page to page': (socket, { path }) =>
    socket.write(
      `HTTP/1.1 302 Found\r\nlocation: ${path.slice(0, 60)}x\r\ncontent-length: 0\r\n\r\n`,
    ),
  'answers with a stray answer after each': (socket) =>
    socket.write(`${OK}content-length: 2\r\n\r\nok${OK}content-length: 5\r\n\r\nstray`),
} satisfies Record<string, Behaviour>;
