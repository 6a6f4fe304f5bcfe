/** Faults of /.well-known/x402, and its shapes. */
import { challengeOf } from '../../../fixtures/origins/crafted-challenge.ts';
import type { Answering } from '../../../fixtures/origins/crafted-seller.ts';
import { WEATHER } from '../../../fixtures/sellers/seller-documents.ts';
import { json, NOT_FOUND_ANSWER, type Row } from './row.ts';

function manifest(make: (origin: string) => unknown): Answering {
  return ({ origin }) => json(make(origin));
}

export const MANIFEST_ROWS: readonly Row[] = [
  {
    name: 'a manifest of another shape',
    answers: { '/.well-known/x402': json({ hello: 'world' }) },
    moved: ['S6 fail unknown-shape'],
  },
  {
    name: 'a manifest with no entries',
    answers: { '/.well-known/x402': json({ resources: [] }) },
    moved: ['S6 fail no-entries'],
  },
  {
    name: 'a manifest only at /.well-known/x402.json',
    answers: {
      '/.well-known/x402': NOT_FOUND_ANSWER,
      '/.well-known/x402.json': manifest((origin) => ({ resources: [`${origin}/weather`] })),
    },
    moved: ['S6 warn only-json'],
  },
  {
    name: 'a manifest that also names another origin',
    answers: {
      '/.well-known/x402': manifest((origin) => ({
        resources: [`${origin}/weather`, 'https://elsewhere.example/weather'],
      })),
    },
    moved: ['S6 warn off-origin'],
  },
];

/** Each shape of the manifest that is in use; none of them moves a cell. */
export const SHAPE_ROWS: readonly Row[] = [
  ['paths', () => ({ resources: ['/weather', '/summaries'] })],
  ['methods before paths', () => ({ resources: ['GET /weather', 'POST /summaries'] })],
  [
    'endpoints with prices',
    (origin: string) => ({
      endpoints: [
        { url: `${origin}/weather`, method: 'GET', price_usd: '0.010000' },
        { url: `${origin}/summaries`, method: 'POST', priceUsd: 0.02 },
      ],
    }),
  ],
  [
    'items with accepts',
    (origin: string) => ({
      items: [
        { resource: `${origin}/weather`, accepts: challengeOf(WEATHER, origin).accepts },
        { resource: { url: `${origin}/summaries` } },
      ],
    }),
  ],
  [
    'a discovery document',
    (origin: string) => ({
      discoveryDocument: {
        x402Version: '2',
        resources: {
          '/weather': { accepts: challengeOf(WEATHER, origin).accepts },
          '/summaries': {},
        },
      },
    }),
  ],
].map(([name, make]) => ({
  name: `a manifest of ${name}`,
  answers: { '/.well-known/x402': manifest(make as (origin: string) => unknown) },
  moved: [],
}));
