/** Origins whose hostility is in their TLS. */
import type { Socket } from 'node:net';
import type { TlsOptions } from 'node:tls';
import {
  type Behaviour,
  drip,
  pour,
  pourMade,
  startHandshakeOrigin,
  startHostileOrigin,
} from '../../fixtures/origins/hostile-origin.ts';
import { costlyChain, finiteFieldParameters } from '../../fixtures/tls/costly-handshakes.ts';
import { RECORD_FLOODS } from '../../fixtures/tls/record-floods.ts';
import { takeOver } from '../../fixtures/tls/record-writer.ts';
import { selfSigned, type TestCa } from '../../fixtures/tls/test-ca.ts';
import type { FarmOrigin } from '../farm-origin.ts';

const HOST = '127.0.0.1';
const DRIP_MS = 100;
const DAY_MS = 86_400_000;

const notFound: Behaviour = (socket) =>
  socket.write('HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n');
const notFoundAndClose: Behaviour = (socket) =>
  socket.end('HTTP/1.1 404 Not Found\r\nconnection: close\r\ncontent-length: 0\r\n\r\n');

/** A server that ends handshakes, and answers 404 to everything. */
function server(
  name: string,
  finding: string,
  options: (ca: TestCa) => Promise<TlsOptions> | TlsOptions,
  behave = notFound,
): FarmOrigin {
  return {
    name,
    kind: 'TLS',
    finding,
    start: async ({ ca }) => startHostileOrigin(behave, await options(ca)),
  };
}

/** An origin whose bare socket runs `behave` after the client's hello, instead of a handshake. */
function instead(name: string, finding: string, behave: (socket: Socket) => void): FarmOrigin {
  return {
    name,
    kind: 'TLS',
    finding,
    start: () => startHandshakeOrigin((socket) => socket.once('data', () => behave(socket))),
  };
}

/** Ends handshakes as it should, and answers with records that carry nothing. */
function flood(name: string, of: keyof typeof RECORD_FLOODS): FarmOrigin {
  return {
    name,
    kind: 'TLS',
    finding: 'P1 fail silent',
    start: async ({ ca }) => {
      const certificate = await right(ca);
      return startHandshakeOrigin(async (raw) => {
        const writer = await takeOver(raw, certificate);
        pourMade(raw, () => RECORD_FLOODS[of](writer));
      });
    },
  };
}

const right = (ca: TestCa) => ca.issue({ hosts: [HOST] });
const finiteField = (ciphers: string, bits: number) => async () => ({
  ...(await costlyChain(HOST, 0)),
  ciphers,
  dhparam: finiteFieldParameters(bits),
  maxVersion: 'TLSv1.2' as const,
});

const OTHER = 'P1 fail tls-other';

export const TLS_ORIGINS: readonly FarmOrigin[] = [
  server(
    'chooses a finite field of 10,000 bits',
    OTHER,
    finiteField('DHE-RSA-AES128-GCM-SHA256', 9_984),
  ),
  server('chooses a finite field of 2,048 bits', OTHER, finiteField('DHE-RSA-AES256-SHA', 2_048)),
  server('offers only ffdhe8192, over TLS 1.3', OTHER, async (ca) => ({
    ...(await right(ca)),
    ecdhCurve: 'ffdhe8192',
    minVersion: 'TLSv1.3',
  })),
  server('sends 69 certificates that take half a second', OTHER, () => costlyChain(HOST, 69)),
  server('sends 9 certificates that take as long as they may', 'P1 fail tls-unknown-issuer', () =>
    costlyChain(HOST, 9),
  ),
  server('has a certificate of 17 KiB', OTHER, (ca) =>
    ca.issue({ hosts: [HOST, ...Array.from({ length: 270 }, (_, i) => `${i}`.padEnd(61, 'x'))] }),
  ),
  server('closes after each answer', 'P2 fail none-found', right, notFoundAndClose),
  server(
    'begins another handshake in place of an answer',
    'P1 fail silent',
    async (ca) => ({
      ...(await right(ca)),
      maxVersion: 'TLSv1.2',
    }),
    (socket) => {
      if ('renegotiate' in socket && typeof socket.renegotiate === 'function') {
        socket.renegotiate({}, () => {});
      }
    },
  ),
  server('speaks only HTTP/2', OTHER, async (ca) => ({
    ...(await right(ca)),
    ALPNProtocols: ['h2'],
  })),
  server('speaks only TLS 1.1', OTHER, async (ca) => ({
    ...(await right(ca)),
    minVersion: 'TLSv1',
    maxVersion: 'TLSv1.1',
    ciphers: 'DEFAULT@SECLEVEL=0',
  })),
  server('has a certificate that expired a year ago', 'P1 fail tls-expired', (ca) =>
    ca.issue({ hosts: [HOST], notAfter: new Date(Date.now() - DAY_MS) }),
  ),
  server('has a self-signed certificate', 'P1 fail tls-self-signed', () => selfSigned([HOST])),
  server('has a certificate for another host', 'P1 fail tls-wrong-host', (ca) =>
    ca.issue({ hosts: ['other.example'] }),
  ),
  server('is silent once TLS is set up', 'P1 fail silent', right, () => {}),
  flood('sends empty records without end', 'empty records'),
  flood('changes its keys without end', 'new keys'),
  flood('asks for new keys without end', 'new keys, and requests for ours'),
  flood('sends tickets without end', 'tickets'),
  instead('begins a ServerHello that never ends', OTHER, (socket) => {
    socket.write(Buffer.from('160303400002003ffc0303', 'hex'));
    pour(socket, '\0'.repeat(4_096));
  }),
  instead('sends alerts without end', OTHER, (socket) => {
    pour(socket, '\x15\x03\x03\x00\x02\x01\x00'.repeat(500));
  }),
  instead('speaks plain HTTP', OTHER, (socket) => {
    socket.end('HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n');
  }),
  instead('never says hello', 'P1 fail silent', () => {}),
  instead('drips its hello', 'P1 fail silent', (socket) => {
    socket.write(Buffer.from('160303400002003ffc0303', 'hex'));
    drip(socket, '\0', DRIP_MS);
  }),
  instead('resets in the handshake', 'P1 fail silent', (socket) => {
    socket.resetAndDestroy();
  }),
];
