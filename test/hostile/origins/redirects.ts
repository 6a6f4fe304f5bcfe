/** Origins that redirect: in circles, to an internal service, and to values that are not addresses. */
import { type Behaviour, startHostileOrigin } from '../../fixtures/origins/hostile-origin.ts';
import type { FarmOrigin, FarmTools } from '../farm-origin.ts';

function leading(
  name: string,
  finding: string,
  to: (tools: FarmTools, path: string, host: string) => string,
): FarmOrigin {
  return {
    name: `leads ${name}`,
    kind: 'redirect',
    finding,
    start: (tools) => {
      const behave: Behaviour = (socket, { path, head }) => {
        const host = /\r\nhost: ([^\r]*)/i.exec(head)?.[1] ?? '';
        const location = to(tools, path, host);
        socket.write(`HTTP/1.1 302 Found\r\nlocation: ${location}\r\ncontent-length: 0\r\n\r\n`);
      };
      return startHostileOrigin(behave);
    },
  };
}

const NOT_FOLLOWED = 'P2 fail none-found';

export const REDIRECT_ORIGINS: readonly FarmOrigin[] = [
  leading('to itself', 'P1 fail silent', (_, path) => path),
  leading('back and forth', 'P1 fail silent', (_, path) =>
    path.endsWith('b') ? path.slice(0, -1) : `${path}b`,
  ),
  leading('inside, by address', NOT_FOLLOWED, ({ internalHost }) => `http://${internalHost}/`),
  leading('inside, over TLS', NOT_FOLLOWED, ({ internalHost }) => `https://${internalHost}/`),
  leading(
    'inside, by name',
    NOT_FOLLOWED,
    ({ internalHost }) => `http://localhost:${internalHost.split(':')[1]}/`,
  ),
  leading(
    'inside, by a number',
    NOT_FOLLOWED,
    ({ internalHost }) => `http://2130706433:${internalHost.split(':')[1]}/`,
  ),
  leading(
    'inside, by IPv6',
    NOT_FOLLOWED,
    ({ internalHost }) => `http://[::ffff:7f00:1]:${internalHost.split(':')[1]}/`,
  ),
  leading(
    'to the metadata of a cloud',
    NOT_FOLLOWED,
    () => 'http://169.254.169.254/latest/meta-data/',
  ),
  leading('to a file', NOT_FOLLOWED, () => 'file:///etc/passwd'),
  leading('to a script', NOT_FOLLOWED, () => 'javascript:alert(1)'),
  leading(
    'to a name with a password',
    NOT_FOLLOWED,
    (_, __, host) => `http://user:secret@${host}/`,
  ),
  leading('to a place of 40 KiB', NOT_FOLLOWED, (_, path) => `/${'x'.repeat(40_000)}${path}`),
  leading('to a value that is not a URL', NOT_FOLLOWED, () => 'http://['),
];
