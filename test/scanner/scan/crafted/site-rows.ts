/** Faults of the site as a whole: catch-all pages, the root, servers that refuse HEAD. */
import { randomUUID } from 'node:crypto';
import { challengeAnswer, challengeOf } from '../../../fixtures/origins/crafted-challenge.ts';
import { WEATHER } from '../../../fixtures/sellers/seller-documents.ts';
import {
  json,
  NO_CHALLENGE_CELLS,
  NO_OPENAPI_CELLS,
  NOT_FOUND_ANSWER,
  page,
  type Row,
  UNSEEN_CELLS,
} from './row.ts';

const SPA = '<!doctype html><html><head><title>Shop</title></head><body><div id="app"></div>';

/** Nothing is there, though every path answers 200. */
const NOTHING_THERE = [
  'P2 fail none-found',
  ...NO_CHALLENGE_CELLS,
  'S1 fail soft-404',
  ...NO_OPENAPI_CELLS,
  'S5 pass no-post-resource',
  'S6 fail soft-404',
  'S7 fail soft-404',
  'S8 fail absent',
  'S9 warn no-pointer',
  'S10 pass no-robots',
  'S11 pass no-documents',
  'S12 fail no-icon',
];

export const SITE_ROWS: readonly Row[] = [
  { name: 'a page for every path', answers: { '*': page(SPA) }, moved: NOTHING_THERE },
  {
    name: 'a page for every path that repeats the path',
    answers: { '*': ({ path }) => page(`${SPA}<p>Nothing at ${path}</p>`) },
    moved: NOTHING_THERE,
  },
  { name: 'JSON for every path', answers: { '*': json({ ok: true }) }, moved: NOTHING_THERE },
  {
    name: 'a page for every path beside real documents',
    answers: {
      '*': ({ path }, usual) =>
        usual.status === 404 ? page(`${SPA}<p>Nothing at ${path}</p>`) : null,
    },
    moved: [],
  },
  {
    name: '404 pages that repeat the path, as HTML',
    answers: {
      '*': ({ path }, usual) =>
        usual.status === 404 ? { ...page(`${SPA}${path}`), status: 404 } : null,
    },
    moved: [],
  },
  {
    name: 'no root',
    answers: { '/': NOT_FOUND_ANSWER },
    // The agent card names the root as its address, but the address of an agent is not a link.
    moved: ['S9 fail error'],
  },
  {
    name: 'a root that breaks',
    answers: { '/': { status: 502 } },
    moved: ['P1 warn root-5xx', 'S9 fail error'],
  },
  {
    name: 'a root behind a login',
    answers: { '/': { status: 401 } },
    moved: ['S9 warn login'],
  },
  {
    name: 'a root without a pointer',
    answers: { '/': page(SPA) },
    moved: ['S9 warn no-pointer'],
  },
  {
    name: 'a root that leads to another host',
    answers: { '/': { status: 302, headers: { location: 'https://elsewhere.invalid/' } } },
    moved: ['P1 warn left-host', 'S9 warn redirect'],
    says: { P1: 'elsewhere.invalid' },
  },
  {
    name: 'a root that leads to a page of this host',
    answers: {
      '/': { status: 302, headers: { location: '/home' } },
      '/home': page('<a href="/openapi.json">API</a>'),
    },
    moved: ['S9 warn redirect'],
  },
  {
    name: 'a root that leads to a document of this host',
    answers: { '/': { status: 307, headers: { location: '/openapi.json' } } },
    moved: ['S9 pass redirect-to-document'],
  },
  {
    name: 'a root that leads in circles',
    answers: { '/': { status: 302, headers: { location: '/' } } },
    moved: ['P1 warn root-silent', 'S9 fail unreadable'],
    says: { S9: 'redirect-loop' },
  },
  {
    name: 'a root that is for sale itself',
    answers: { '/': ({ origin }) => challengeAnswer(challengeOf({ ...WEATHER }, origin)) },
    moved: ['P6 warn undeclared', 'S9 fail error'],
    says: { P2: '3 of 3 paid resources asked for payment' },
  },
  {
    name: 'a root that names a document in a Link header',
    answers: {
      '/': { ...page(SPA), headers: { link: '</openapi.json>; rel="service-desc"' } },
    },
    moved: [],
  },
  {
    name: 'a root that names a document in JSON',
    answers: { '/': json({ docs: { openapi: '/openapi.json' } }) },
    moved: [],
  },
  {
    name: 'JSON with a fresh id for every path',
    answers: { '*': () => json({ error: 'not found', id: randomUUID() }) },
    moved: [
      'P2 fail none-found',
      ...NO_CHALLENGE_CELLS,
      'S1 fail not-openapi-3',
      ...NO_OPENAPI_CELLS,
      'S5 pass no-post-resource',
      'S6 fail unknown-shape',
      'S7 fail no-h1',
      'S8 warn partial',
      'S9 warn no-pointer',
      'S11 pass no-links',
      'S12 fail no-icon',
    ],
  },
  {
    name: 'no HEAD on documents',
    answers: {
      '*': ({ method }, usual) =>
        method === 'HEAD' && usual.status === 200 ? { status: 405 } : null,
    },
    moved: [],
  },
  {
    name: '429 for everything',
    answers: { '*': { status: 429 } },
    moved: [
      'P2 warn unread',
      ...UNSEEN_CELLS,
      'S1 warn rate-limited',
      ...['S2', 'S3', 'S4'].map((id) => `${id} warn rate-limited`),
      'S5 warn unseen',
      'S6 warn rate-limited',
      'S7 warn rate-limited',
      'S8 warn rate-limited',
      'S9 fail error',
      'S10 pass no-robots',
      'S11 pass no-documents',
      'S12 warn rate-limited',
    ],
  },
  {
    name: '503 for everything',
    answers: { '*': { status: 503 } },
    moved: [
      'P1 fail only-5xx',
      ...['P2', 'P3', 'P4', 'P5', 'P6', 'P7', 'P8'].map((id) => `${id} fail prerequisite-failed`),
      ...Array.from({ length: 12 }, (_, index) => `S${index + 1} fail prerequisite-failed`),
    ],
  },
];
