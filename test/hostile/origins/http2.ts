/** Origins that choose HTTP/2 beside HTTP/1.1, which is right in everything, and are hostile in it. */
import { BOMBS } from '../../fixtures/origins/bombs.ts';
import { type CraftedOptions, startCraftedSeller } from '../../fixtures/origins/crafted-seller.ts';
import { BROKEN_HTTP2 } from '../../fixtures/origins/http2-behaviours.ts';
import type { FarmOrigin } from '../farm-origin.ts';

const HOST = '127.0.0.1';
/** Those that a scan pays for, one of a kind; test/probe has the others. */
const COSTLY = [
  'says nothing',
  'speaks HTTP/1.1',
  'answers nothing',
  'sends settings without end',
  'sends pings without end',
  'opens windows without end',
  'sends frames of no known type without end',
  'sends empty DATA without end',
  'sends DATA of a byte without end',
  'continues its headers without end',
  'sends headers that unpack to megabytes',
  'sends interim answers without end',
  'pushes what nobody asked for',
  'resets each stream in its body',
  'says goodbye at the first request',
  'takes one stream, and hangs on it',
  'never opens a window',
] as const;

function twofold(name: string, finds: string, options: CraftedOptions): FarmOrigin {
  return {
    name,
    kind: 'HTTP/2',
    finds,
    start: async ({ ca }) =>
      startCraftedSeller({ ...options, tls: await ca.issue({ hosts: [HOST] }) }),
  };
}

function bomb(name: string): NonNullable<CraftedOptions['answers']> {
  const make = BOMBS[name];
  if (make === undefined) throw new Error(`there is no bomb of ${name}`);
  return make();
}

export const HTTP2_ORIGINS: readonly FarmOrigin[] = [
  ...COSTLY.map((name) => {
    const http2 = BROKEN_HTTP2[name];
    if (http2 === undefined) throw new Error(`no server ${name}`);
    return twofold(`chooses HTTP/2 and ${name}`, 'P2 pass challenged', { http2 });
  }),
  twofold('chooses HTTP/2 and sells with OpenAPI packed to a thousandth', 'S1 fail oversize', {
    http2: 'spoken',
    answers: bomb('OpenAPI packed to a thousandth'),
  }),
  twofold('chooses HTTP/2 and sells with five million arrays in one another', 'S1 fail oversize', {
    http2: 'spoken',
    answers: bomb('five million arrays in one another'),
  }),
];
