/** Faults of how a challenge is sent: header, body, versions, caching. */

import type { CraftedAnswer } from '../../../fixtures/origins/crafted-answer.ts';
import {
  bodyAnswer,
  challengeAnswer,
  challengeOf,
  headerAnswer,
  offerOf,
  type Sold,
  versionOne,
} from '../../../fixtures/origins/crafted-challenge.ts';
import type { Answering } from '../../../fixtures/origins/crafted-seller.ts';
import { SUMMARY, WEATHER } from '../../../fixtures/sellers/seller-documents.ts';
import { editChallenge, NO_CHALLENGE_CELLS, type Row } from './row.ts';

const OTHER_PAYEE = '0x3333333333333333333333333333333333333333';

/** Both resources, each with an answer made of its challenge. */
function both(answer: (challenge: object, sold: Sold, origin: string) => CraftedAnswer) {
  const of =
    (sold: Sold): Answering =>
    ({ origin }, usual) =>
      usual.status === 402 ? answer(challengeOf(sold, origin), sold, origin) : usual;
  return { [WEATHER.path]: of(WEATHER), [SUMMARY.path]: of(SUMMARY) };
}

/** With "_" among its characters, wherever it falls: no strict reader takes it. */
function base64url(challenge: object): string {
  return Buffer.from(JSON.stringify({ ...challenge, error: '?????' })).toString('base64url');
}

export const CHALLENGE_ROWS: readonly Row[] = [
  {
    name: 'a version 2 challenge only in the body',
    answers: both(bodyAnswer),
    moved: ['P4 fail missing', 'S5 warn body-only'],
  },
  {
    name: 'a base64url header beside a good body',
    answers: both((challenge) => headerAnswer(base64url(challenge), challenge)),
    moved: ['P4 fail base64url', 'S5 warn body-only'],
  },
  {
    name: 'a base64url header and an empty body',
    answers: both((challenge) => headerAnswer(base64url(challenge))),
    moved: ['P2 fail base64url', ...NO_CHALLENGE_CELLS, 'S5 fail prerequisite-failed'],
  },
  {
    name: 'raw JSON in the header',
    answers: both((challenge) => headerAnswer(JSON.stringify(challenge), challenge)),
    moved: ['P4 fail raw-json', 'S5 warn body-only'],
  },
  {
    name: 'one resource right, one without the header',
    answers: {
      [WEATHER.path]: ({ origin }, usual) =>
        usual.status === 402 ? bodyAnswer(challengeOf(WEATHER, origin)) : usual,
    },
    moved: ['P4 fail missing'],
    says: { P4: '1 of 2: GET /weather' },
  },
  {
    name: 'only version 1',
    answers: both((_, sold, origin) => bodyAnswer(versionOne(sold, origin))),
    moved: ['P2 warn v1-only', 'P3 warn version-1', 'P4 fail v1-only', 'S5 fail absent'],
  },
  {
    name: 'the same terms by version 1 in the body',
    answers: both((challenge, sold, origin) =>
      headerAnswer(
        Buffer.from(JSON.stringify(challenge)).toString('base64'),
        versionOne(sold, origin),
      ),
    ),
    moved: [],
  },
  {
    name: 'another amount in the body',
    answers: {
      'GET /weather': ({ origin }) => {
        const challenge = challengeOf(WEATHER, origin);
        const cheap = { ...offerOf(WEATHER), amount: '1' };
        return { ...challengeAnswer(challenge), body: { ...challenge, accepts: [cheap] } };
      },
    },
    moved: ['P4 fail terms-differ'],
  },
  {
    name: 'another recipient in the body',
    answers: {
      'GET /weather': ({ origin }) => {
        const challenge = challengeOf(WEATHER, origin);
        const other = { ...offerOf(WEATHER), payTo: OTHER_PAYEE };
        return { ...challengeAnswer(challenge), body: { ...challenge, accepts: [other] } };
      },
    },
    moved: ['P4 fail terms-differ', 'P7 fail body-differs'],
  },
  {
    name: 'a challenge that caches may keep',
    answers: {
      'GET /weather': (_, usual) => ({
        ...usual,
        headers: { ...usual.headers, 'cache-control': 'public, max-age=60' },
      }),
    },
    moved: ['P4 warn cacheable'],
  },
  {
    name: 'a header of more than 8,192 characters',
    answers: {
      '/weather': editChallenge(WEATHER, (usual) => ({ ...usual, padding: 'x'.repeat(7_000) })),
    },
    moved: ['P4 warn too-long'],
  },
  {
    name: 'headers in capitals, in another order, with a fresh WWW-Authenticate and two types',
    answers: {
      'GET /weather': ({ number }, usual) => ({
        ...usual,
        headers: {
          'WWW-Authenticate': `Payment id="${number}"`,
          'Content-Type': ['application/json', 'application/json; charset=utf-8'],
          'PAYMENT-REQUIRED': usual.headers?.['payment-required'] ?? '',
          'Cache-Control': 'private',
        },
      }),
    },
    moved: [],
  },
];
