/** Origins that are broken, slow or silent. */
import { BROKEN } from '../../fixtures/origins/hostile-behaviours.ts';
import { type Behaviour, startHostileOrigin } from '../../fixtures/origins/hostile-origin.ts';
import type { FarmOrigin } from '../farm-origin.ts';

const NOT_FOUND = 'HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n';
/** Within the time that a request has by the short clocks. */
const SLOW_MS = 900;

const FINDS: Readonly<Record<keyof typeof BROKEN, string>> = {
  'accepts and says nothing': 'P1 fail silent',
  'hangs after the headers': 'S1 fail unreadable',
  'drips a body': 'S1 fail unreadable',
  'drips chunks': 'S6 fail unreadable',
  'drips headers': 'P1 fail silent',
  'drips 1xx answers': 'P1 fail silent',
  resets: 'P1 fail silent',
  'resets in the middle of a header': 'P1 fail silent',
  'talks another protocol': 'P1 fail silent',
  'sends headers without end': 'P1 fail silent',
  'sends one header without end': 'P1 fail silent',
  'sends chunks without end': 'S1 fail soft-404',
  'sends a chunk size that is none': 'S1 fail unreadable',
  'leads from page to page': 'P1 fail silent',
  'answers with a stray answer after each': 'P2 fail none-found',
};

const broken = Object.entries(BROKEN).map(
  ([name, behave]): FarmOrigin => ({
    name,
    kind: 'clock',
    finding: FINDS[name as keyof typeof BROKEN], // a key of the table, which Object.entries widens
    start: () => startHostileOrigin(behave),
  }),
);

function clock(name: string, finding: string, behave: Behaviour): FarmOrigin {
  return { name, kind: 'clock', finding, start: () => startHostileOrigin(behave) };
}

export const CLOCK_ORIGINS: readonly FarmOrigin[] = [
  ...broken,
  clock('is silent but for its root', 'P2 warn unread', (socket, { path }) => {
    if (path === '/') socket.write(NOT_FOUND);
  }),
  clock('is silent only at its root', 'P1 warn root-silent', (socket, { path }) => {
    if (path !== '/') socket.write(NOT_FOUND);
  }),
  clock('answers each request as late as it may', 'P2 fail none-found', (socket) => {
    setTimeout(() => socket.write(NOT_FOUND), SLOW_MS);
  }),
  clock('asks to come back, for ever', 'P2 warn unread', (socket) =>
    socket.write('HTTP/1.1 429 Too Many Requests\r\nretry-after: 1\r\ncontent-length: 0\r\n\r\n'),
  ),
];
