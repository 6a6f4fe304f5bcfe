/** Origins that lead elsewhere: in circles, inside, and to what is not an address. */
import { type Behaviour, startHostileOrigin } from '../../fixtures/origins/hostile-origin.ts';
import type { FarmOrigin, FarmTools } from '../farm-origin.ts';

function leading(
  name: string,
  finds: string,
  to: (tools: FarmTools, path: string, host: string) => string,
): FarmOrigin {
  return {
    name: `leads ${name}`,
    kind: 'redirect',
    finds,
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

const LEFT = 'P2 fail none-found';

export const REDIRECT_ORIGINS: readonly FarmOrigin[] = [
  leading('to itself', 'P1 fail silent', (_, path) => path),
  leading('back and forth', 'P1 fail silent', (_, path) =>
    path.endsWith('b') ? path.slice(0, -1) : `${path}b`,
  ),
  leading('inside, by address', LEFT, ({ inside }) => `http://${inside}/`),
  leading('inside, over TLS', LEFT, ({ inside }) => `https://${inside}/`),
  leading('inside, by name', LEFT, ({ inside }) => `http://localhost:${inside.split(':')[1]}/`),
  leading(
    'inside, by a number',
    LEFT,
    ({ inside }) => `http://2130706433:${inside.split(':')[1]}/`,
  ),
  leading(
    'inside, by IPv6',
    LEFT,
    ({ inside }) => `http://[::ffff:7f00:1]:${inside.split(':')[1]}/`,
  ),
  leading('to the metadata of a cloud', LEFT, () => 'http://169.254.169.254/latest/meta-data/'),
  leading('to a file', LEFT, () => 'file:///etc/passwd'),
  leading('to a script', LEFT, () => 'javascript:alert(1)'),
  leading('to a name with a password', LEFT, (_, __, host) => `http://user:secret@${host}/`),
  leading('to a place of 40 KiB', LEFT, (_, path) => `/${'x'.repeat(40_000)}${path}`),
  leading('to a value that is not a URL', LEFT, () => 'http://['),
];
