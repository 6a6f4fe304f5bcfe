/** Sellers with values in their documents that JavaScript trips over. */

import type { CraftedAnswer } from '../../fixtures/origins/crafted-answer.ts';
import { challengeAnswer, challengeOf, offerOf } from '../../fixtures/origins/crafted-challenge.ts';
import { startCraftedSeller } from '../../fixtures/origins/crafted-seller.ts';
import { WEATHER } from '../../fixtures/sellers/seller-documents.ts';
import type { FarmOrigin } from '../farm-origin.ts';

const POISON = { toString: 1, valueOf: 1, toJSON: 1 };
const HUGE = `1${'0'.repeat(400)}`;

function offering(name: string, finding: string, change: object): FarmOrigin {
  return {
    name: `offers ${name}`,
    kind: 'value',
    finding,
    start: () =>
      startCraftedSeller({
        answers: {
          'GET /weather': ({ origin }) =>
            challengeAnswer({
              ...challengeOf(WEATHER, origin),
              accepts: [{ ...offerOf(WEATHER), ...change }],
            }),
        },
      }),
  };
}

function declaring(name: string, finding: string, path: string, body: unknown): FarmOrigin {
  const answer: CraftedAnswer = {
    status: 200,
    headers: { 'content-type': 'application/json' },
    body,
  };
  return {
    name: `declares ${name}`,
    kind: 'value',
    finding,
    start: () => startCraftedSeller({ answers: { [path]: answer } }),
  };
}

export const VALUE_ORIGINS: readonly FarmOrigin[] = [
  offering('to a recipient with its own toString', 'P7 fail malformed', { payTo: POISON }),
  offering('on a network with its own toString', 'P3 fail bad-field', { network: POISON }),
  offering('for an amount with its own toString', 'P6 fail malformed-amount', { amount: POISON }),
  offering('for an amount of 401 digits', 'P6 fail malformed-amount', { amount: HUGE }),
  offering('in an asset that is a list', 'P6 fail malformed-asset', { asset: [[[]]] }),
  offering('to a lone surrogate', 'P7 fail malformed', { payTo: '\ud800' }),
  offering('within a timeout of 10^400', 'P3 fail bad-field', { maxTimeoutSeconds: HUGE }),
  declaring('a version with its own toString', 'S1 fail not-openapi-3', '/openapi.json', {
    openapi: POISON,
    info: POISON,
    paths: POISON,
  }),
  declaring('a server with its own toString', 'S1 pass complete', '/openapi.json', {
    openapi: '3.1.0',
    info: { title: 'x', version: '1', contact: { email: 'a@b.example' }, 'x-guidance': 'x' },
    servers: [{ url: '{a}', variables: { a: { default: POISON } } }],
    paths: { '/weather': { get: {} } },
  }),
  declaring('a manifest with its own toString', 'S6 fail no-address', '/.well-known/x402', {
    resources: [POISON, { resource: POISON, accepts: [POISON], price: POISON }],
  }),
  declaring('an agent with its own toString', 'S8 warn partial', '/.well-known/agent-card.json', {
    name: POISON,
    url: POISON,
    skills: [POISON],
    version: POISON,
  }),
];
